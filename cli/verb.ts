/**
 * How a verb is declared: its flags, arguments and example, and the one function that it calls.
 * Promises: every verb has `--json`; a verb over a store has `--store` and closes what it opened; no argument or flag
 * is an empty text.
 */
import {
  type BaseArgs,
  type BaseFlags,
  buildCommand,
  type Command,
  type CommandContext,
  type FlagParametersForType,
  type StricliProcess,
  type TypedPositionalParameters,
} from '@stricli/core';
import { fail } from '../store/format/errors.ts';
import type { Store } from '../store/store.ts';
import { type Access, type StoreFlag, withStore } from './open.ts';
import type { Out } from './output.ts';

/** What every verb is given. */
export interface Cli extends CommandContext {
  readonly process: StricliProcess;
  readonly out: Out;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
  readonly stdin: AsyncIterable<Uint8Array>;
  /** Where the verbs are: this installation's folder. */
  readonly root: string;
}

/** A verb still without its one-line description, which stands in the table of verbs. */
export type Verb = (brief: string) => Command<Cli>;

export interface VerbSpec<F extends BaseFlags, A extends BaseArgs> {
  /** A command line that works. */
  readonly example: string;
  /** More than the one line. */
  readonly about?: string;
  readonly flags: FlagParametersForType<F, Cli>;
  readonly args: TypedPositionalParameters<A, Cli>;
  readonly run: (cli: Cli, flags: F, ...args: A) => Promise<void>;
}

const JSON_FLAG = toggle('One JSON value a line, on stdout and for errors on stderr');
export const STORE_FLAG = text(
  'Folder of the store; else ASHLAR_STORE where it is not empty, else the nearest .ashlar upwards',
  'FOLDER',
);

export function verb<const F extends BaseFlags, const A extends BaseArgs>(spec: VerbSpec<F, A>): Verb {
  return (brief) => {
    const about = spec.about === undefined ? [] : [spec.about];
    const fullDescription = [brief, ...about, `Example:\n  ${spec.example.replaceAll('\n', '\n  ')}`].join(
      '\n\n',
    );
    // The parser's types do not follow a spread over a type parameter; the parts were checked above.
    const builder = {
      func(this: Cli, flags: F, ...args: A) {
        return spec.run(this, flags, ...args);
      },
      parameters: { flags: { ...spec.flags, json: JSON_FLAG }, positional: spec.args },
      docs: { brief, fullDescription },
    };
    return (buildCommand as unknown as (from: typeof builder) => Command<Cli>)(builder);
  };
}

export interface StoreVerbSpec<F extends BaseFlags, A extends BaseArgs> extends Omit<VerbSpec<F, A>, 'run'> {
  readonly access: Access;
  readonly run: (cli: Cli, store: Store, flags: F, ...args: A) => Promise<void>;
}

/** A verb over the store that the flags, the environment or the folder name. */
export function storeVerb<const F extends BaseFlags, const A extends BaseArgs>(
  spec: StoreVerbSpec<F, A>,
): Verb {
  const { access, flags, run, ...rest } = spec;
  const declared = { ...flags, store: STORE_FLAG } as FlagParametersForType<F & StoreFlag, Cli>;
  return verb<F & StoreFlag, A>({
    ...rest,
    flags: declared,
    run: (cli, given, ...args) => withStore(cli, given, access, (store) => run(cli, store, given, ...args)),
  });
}

/** A text as it was given. An empty one is refused: `"$UNSET"` must never come to mean the current folder. */
function given(input: string): string {
  if (input === '') fail('E_USAGE', { wanted: 'a text that is not empty', found: "''" });
  return input;
}

/** A positional argument. */
export function word(placeholder: string, brief: string) {
  return { placeholder, brief, parse: given } as const;
}

export function maybe(placeholder: string, brief: string) {
  return { placeholder, brief, parse: given, optional: true } as const;
}

export const NO_ARGS = { kind: 'tuple', parameters: [] } as const;

/** A flag that takes a text and may be left out. */
export function text(brief: string, placeholder: string) {
  return { kind: 'parsed', parse: given, brief, placeholder, optional: true } as const;
}

/** A flag that must be given. */
export function needed(brief: string, placeholder: string) {
  return { kind: 'parsed', parse: given, brief, placeholder } as const;
}

/** A flag that may stand several times. */
export function several(brief: string, placeholder: string) {
  return { kind: 'parsed', parse: given, brief, placeholder, variadic: true, optional: true } as const;
}

export function toggle(brief: string) {
  return { kind: 'boolean', brief, optional: true, withNegated: false } as const;
}

export function amount(brief: string, placeholder = 'N') {
  return { kind: 'parsed', parse: natural, brief, placeholder, optional: true } as const;
}

function natural(input: string): number {
  if (!/^[1-9]\d{0,8}$/.test(input)) fail('E_USAGE', { wanted: 'a whole number from 1', found: input });
  return Number(input);
}
