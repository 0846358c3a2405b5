/**
 * Which files coding agents read unasked: the first list, as data with a digest.
 * Promises: canonical bytes, so that a redaction names exactly the list that it used. Never edited: a change in what
 * the tools load is a new list beside this one.
 * Does not promise: completeness. Tools change several times a year; what comes close to a pattern is reported.
 *
 * Names are compared with ASCII case folded, because at least two tools fold it and every tool does on some file
 * systems. `*` stands at the start or at the end of a pattern only.
 */
import { type Cid, cidOf } from '../../store/format/cid.ts';
import { encode, type Value } from '../../store/format/codec.ts';

export const PATTERNS_V1 = {
  policy: 'redaction',
  v: 1,
  /** Files, links and submodules of this name, in any directory. */
  basenames: [
    'agents.md',
    'agents.override.md',
    'agents.local.md',
    'agent.md',
    'claude.md',
    'claude.local.md',
    'gemini.md',
    'qwen.md',
    'qwen.local.md',
    'crush.md',
    'crush.local.md',
    'warp.md',
    'codebuddy.md',
    'codebuddy.local.md',
    'hermes.md',
    '.hermes.md',
    '.cursorrules',
    '.windsurfrules',
    '.clinerules',
    '.clinerules-*',
    '.roorules',
    '.roorules-*',
    '.roomodes',
    '.rules',
    '.continuerules',
    '.goosehints',
    '.augment-guidelines',
    'copilot-instructions.md',
    '.mcp.json',
    '.aider*',
  ],
  /** Everything at and below a path component of this name, whatever the entry is. */
  components: [
    '.agent',
    '.agents',
    '.aiassistant',
    '.aider*',
    '.alquimia',
    '.amazonq',
    '.augment',
    '.bob',
    '.claude',
    '.cline',
    '.clinerules',
    '.clinerules-*',
    '.codebuddy',
    '.codex',
    '.commandcode',
    '.continue',
    '.cursor',
    '.devin',
    '.factory',
    '.firebender',
    '.forge',
    '.gemini',
    '.goose',
    '.grok',
    '.hermes',
    '.junie',
    '.kilo',
    '.kilocode',
    '.kimi-code',
    '.kiro',
    '.lingma',
    '.mimocode',
    '.omp',
    '.opencode',
    '.openhands',
    '.pi',
    '.qoder',
    '.qwen',
    '.roo',
    '.roorules',
    '.roorules-*',
    '.rovodev',
    '.ruler',
    '.serena',
    '.shai',
    '.specify',
    '.tabnine',
    '.trae',
    '.vibe',
    '.windsurf',
    '.zcode',
  ],
  /** Everything at and below these successive components, in any directory. */
  subpaths: [
    '.github/agents',
    '.github/chatmodes',
    '.github/instructions',
    '.github/prompts',
    '.github/skills',
    '.idx/airules.md',
    '.vscode/mcp.json',
    '.zed/settings.json',
  ],
  /** Names anywhere below a component. */
  below: [{ component: '.github', name: '*.instructions.md' }],
  /** Names in the root directory only: elsewhere they are ordinary content. */
  root: [
    '.crush.json',
    '.crushrc',
    'crush.json',
    'firebender.json',
    'kilo.jsonc',
    'opencode.json',
    'opencode.jsonc',
    'replit.md',
  ],
  /** Kept, and reported for a person to look at. */
  near: {
    names: [
      'ai-rules',
      'amp.md',
      'codex.md',
      'conventions.md',
      'llms-full.txt',
      'llms.txt',
      'memory-bank',
      'qodo.md',
      'rules.md',
      'skill.md',
    ],
    /** A listed basename with one of these behind it. */
    suffixes: ['.bak', '.example', '.old', '.orig', '.sample', '.save', '.template', '.txt', 'x', '~'],
  },
} as const;

const bytes = encode(PATTERNS_V1 as unknown as Value);

/** The policy blob and its name. Whoever freezes a source puts `bytes` as a raw block. */
export const REDACTION_POLICY: { readonly bytes: Uint8Array; readonly cid: Cid } = {
  bytes,
  cid: cidOf('raw', bytes),
};
