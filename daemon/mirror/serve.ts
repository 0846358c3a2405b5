/**
 * `mirror serve`: a store for strangers to read.
 * Promises: no writes, ever; only what is published, unless `everything` is said.
 */
import type { Store } from '../../store/store.ts';
import { type Api, type ApiOptions, openApi } from '../api/api.ts';
import { openPublished } from './published.ts';

export interface ServeOptions extends Pick<ApiOptions, 'limits' | 'pending' | 'why' | 'onInternal'> {
  /** 127.0.0.1 unless said. */
  readonly host?: string;
  /** 0: any. */
  readonly port: number;
  /** Serve every block and record, also evidence that a study withholds. For a private network. */
  readonly everything?: boolean;
}

/** Serves until `close`; the store stays open. Throws E_CONFIG. */
export async function serveMirror(
  store: Store,
  { host, port, everything, ...more }: ServeOptions,
): Promise<Api> {
  const shown = everything === true ? store : await openPublished(store);
  const listen = host === undefined ? { port } : { host, port };
  const hide = async () => {
    if (shown !== store) await shown.close();
  };
  try {
    const api = await openApi(shown, { ...more, listen, readOnly: true });
    return { url: api.url, close: () => api.close().then(hide) };
  } catch (error) {
    await hide();
    throw error;
  }
}
