/**
 * Which files a configuration names as context for an agent.
 * Promises: the names as written, each once, in order; an unreadable configuration gives undefined, never nothing.
 * Does not promise: that a named file exists, nor the expansion of globs.
 */
import type { TreePath } from '../../store/format/tree.ts';
import { fold } from './match.ts';

/** A configuration over this size (bytes) is not read. */
export const CONFIG_LIMIT = 1 << 20;

type Reading = (text: string) => readonly string[] | undefined;

/** How the entry at `path` names other files, or undefined where it is no configuration that does. */
export function readingOf(path: TreePath): Reading | undefined {
  const folded = path.map(fold);
  const last = folded[folded.length - 1] ?? '';
  const parent = folded[folded.length - 2];
  if (last === '.aider.conf.yml' || last === '.aider.conf.yaml') return aiderNames;
  if (last === 'opencode.json' || last === 'opencode.jsonc') return jsonNames([['instructions']]);
  if (last === 'crush.json' || last === '.crush.json') return jsonNames([['options', 'context_paths']]);
  if (last === 'settings.json' && (parent === '.gemini' || parent === '.qwen'))
    return jsonNames([['context', 'fileName'], ['contextFileName']]);
  if (last === 'config.toml' && parent === '.codex') return codexNames;
  return /^(?:agents|claude|claude\.local|gemini|qwen)\.md$/.test(last) ? importNames : undefined;
}

/** The names in a configuration's bytes; undefined where it cannot be read. */
export function namesIn(reading: Reading, bytes: Uint8Array): readonly string[] | undefined {
  let text: string;
  try {
    text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return undefined;
  }
  const names = reading(text);
  return names === undefined ? undefined : [...new Set(names.filter((name) => name.isWellFormed()))];
}

/** `read:` and `file:` of .aider.conf.yml: a scalar, a flow list, or a block list. */
function aiderNames(text: string): string[] {
  const names: string[] = [];
  let open = false;
  for (const line of text.split(/\r?\n/)) {
    const key = /^([A-Za-z_-]+)\s*:\s*(.*)$/.exec(line);
    const item = /^\s*-\s+(.*)$/.exec(line);
    if (key !== null) {
      open = key[1] === 'read' || key[1] === 'file';
      if (open) names.push(...yamlValues(key[2] ?? ''));
    } else if (open && item !== null) names.push(...yamlValues(item[1] ?? ''));
  }
  return names;
}

function yamlValues(text: string): string[] {
  const plain = text.replace(/(?:^|\s)#.*$/, '').trim();
  const list = /^\[(.*)\]$/.exec(plain);
  const values = list === null ? [plain] : (list[1] ?? '').split(',');
  return values.map((value) => value.trim().replace(/^(['"])(.*)\1$/, '$2')).filter((value) => value !== '');
}

/** Strings, or lists of strings, at these paths of a JSON file that may hold comments and trailing commas. */
function jsonNames(paths: readonly (readonly string[])[]): Reading {
  return (text) => {
    let value: unknown;
    try {
      value = JSON.parse(withoutComments(text));
    } catch {
      return undefined;
    }
    return paths.flatMap((path) => strings(path.reduce(property, value)));
  };
}

function property(value: unknown, key: string): unknown {
  const isMap = typeof value === 'object' && value !== null && Object.hasOwn(value, key);
  return isMap ? (value as Record<string, unknown>)[key] : undefined;
}

function strings(value: unknown): string[] {
  const list = Array.isArray(value) ? value : [value];
  return list.filter((each): each is string => typeof each === 'string');
}

// A string literal is matched first, so that what looks like a comment inside one stays.
function withoutComments(text: string): string {
  const bare = text.replace(
    /("(?:[^"\\]|\\.)*")|\/\/[^\n]*|\/\*[\s\S]*?\*\//g,
    (_, literal) => literal ?? ' ',
  );
  return bare.replace(/("(?:[^"\\]|\\.)*")|,(?=\s*[\]}])/g, (_, literal) => literal ?? '');
}

/** `project_doc_fallback_filenames` of .codex/config.toml. */
function codexNames(text: string): string[] {
  const list = /^\s*project_doc_fallback_filenames\s*=\s*\[([^\]]*)\]/m.exec(text)?.[1] ?? '';
  return [...list.matchAll(/"([^"\n]*)"|'([^'\n]*)'/g)].map((found) => found[1] ?? found[2] ?? '');
}

/** `@path` imports of a memory file, outside code. A name of one word without dot or slash is a mention. */
function importNames(text: string): string[] {
  const prose = text.replace(/^(```|~~~)[\s\S]*?^\1/gm, '').replace(/`[^`\n]*`/g, '');
  const found = [...prose.matchAll(/(?:^|\s)@([^\s@,;:()"'<>]+)/g)].map((each) =>
    (each[1] ?? '').replace(/\.$/, ''),
  );
  return found.filter((name) => /[./]/.test(name));
}
