/** A publication as the verifier sees it: a listing and a way to read. The verifier itself touches no disk. */
import { fail } from '../../store/format/errors.ts';

export interface ListedFile {
  /** Relative, `/` between segments; bytes of a name that is no UTF-8 as `%xx`. */
  readonly path: string;
  readonly size: number;
  /** Anything but `file` may not stand in a publication. */
  readonly type: 'file' | 'link' | 'misnamed' | 'empty' | 'other';
  /** More than one name for the same bytes on disk. */
  readonly shared: boolean;
}

const WHAT = {
  file: 'a file',
  link: 'a link, not a file',
  misnamed: 'a name that is no UTF-8, told here by its bytes',
  empty: 'a folder without a file',
  other: 'no plain file',
} as const satisfies Record<ListedFile['type'], string>;

/** What an entry is, for a fault. */
export const whatIs = ({ type }: Pick<ListedFile, 'type'>): string => WHAT[type];

export interface Publication {
  list(): Promise<readonly ListedFile[]>;
  /** Throws E_NOT_FOUND, E_IO. */
  read(path: string): Promise<Uint8Array>;
  stream(path: string): AsyncIterable<Uint8Array>;
}

/** The same publication, in which only plain files of the listing can be read: a fifo would never end. */
export function plainFiles(source: Publication, listed: readonly ListedFile[]): Publication {
  const types = new Map(listed.map(({ path, type }) => [path, type]));
  const check = (path: string): void => {
    const found = types.get(path) ?? 'nothing';
    if (found !== 'file') fail('E_NOT_FOUND', { where: path, wanted: 'a plain file', found });
  };
  return {
    list: async () => listed,
    read: async (path) => {
      check(path);
      return source.read(path);
    },
    async *stream(path) {
      check(path);
      yield* source.stream(path);
    },
  };
}
