/**
 * Vectors: what the formats are, as files. A module `test/**\/*.vectors.ts` exports `vectors()`, a map from file name
 * to content; `npm run vectors` writes them under `test/vectors/`, and a test demands that nothing would change.
 */
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Json, prettyJson } from '../../store/format/json.ts';

/** File name below the folder, with `/` -> content. */
export type Vectors = Readonly<Record<string, Json>>;

// This module runs as dist/test/tools/vectors.js.
const built = fileURLToPath(new URL('..', import.meta.url));
const folder = fileURLToPath(new URL('../../../test/vectors', import.meta.url));

/** What the code says now: file name -> text. */
export async function generate(): Promise<Map<string, string>> {
  const files = new Map<string, string>();
  const modules = readdirSync(built, { recursive: true, encoding: 'utf8' });
  for (const path of modules.filter((name) => name.endsWith('.vectors.js')).sort()) {
    const { vectors } = (await import(join(built, path))) as { vectors: () => Vectors | Promise<Vectors> };
    for (const [name, content] of Object.entries(await vectors())) {
      if (files.has(name)) throw new Error(`two modules write ${name}`);
      files.set(name, prettyJson(content));
    }
  }
  return files;
}

/** Reference values made by others: there to be met, never written by our code. */
const GIVEN = ['stats.json', 'cases'];

/** What is committed of our own: file name -> text. */
export function committed(): Map<string, string> {
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .map((name) => name.replaceAll(sep, '/'))
    .filter((name) => name.endsWith('.json') && !GIVEN.includes(name.split('/')[0] ?? ''))
    .sort();
  return new Map(names.map((name) => [name, readFileSync(join(folder, name), 'utf8')]));
}

/** Writes what `generate` gives. */
export async function writeVectors(): Promise<void> {
  for (const [name, text] of await generate()) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), text);
  }
}
