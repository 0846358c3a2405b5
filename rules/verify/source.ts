/** A publication as the verifier sees it: a listing and a way to read. The verifier itself touches no disk. */

export interface ListedFile {
  /** Relative, `/` between segments. */
  readonly path: string;
  readonly size: number;
  /** Anything but `file` may not stand in a publication. */
  readonly type: 'file' | 'link' | 'other';
  /** More than one name for the same bytes on disk. */
  readonly shared: boolean;
}

export interface Publication {
  list(): Promise<readonly ListedFile[]>;
  /** Throws E_NOT_FOUND, E_IO. */
  read(path: string): Promise<Uint8Array>;
  stream(path: string): AsyncIterable<Uint8Array>;
}
