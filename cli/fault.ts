/**
 * Faults as the command line shows them: one sentence, or one JSON object, on stderr, and an exit status.
 * Promises: every fault has a code of the catalogue; no stack trace is shown.
 */
import {
  ArgumentParseError,
  ArgumentScannerError,
  EnumValidationError,
  FlagNotFoundError,
  UnexpectedPositionalError,
  UnsatisfiedFlagError,
  UnsatisfiedPositionalError,
} from '@stricli/core';
import { AshlarError, ERRORS, isFault } from '../store/format/errors.ts';
import { counted } from '../store/format/words.ts';
import { oneLine } from './printable.ts';

/** Any thrown value as a fault of the catalogue. */
export function faultOf(error: unknown): AshlarError {
  if (isFault(error)) return error;
  const { code, syscall, path } = error as NodeJS.ErrnoException;
  const found = error instanceof Error ? error.message : String(error);
  if (typeof syscall === 'string' && typeof code === 'string') {
    const missing = code === 'ENOENT' ? 'E_NOT_FOUND' : 'E_IO';
    return new AshlarError(missing, { ...(path === undefined ? {} : { where: path }), found, cause: error });
  }
  return new AshlarError('E_INTERNAL', { found, cause: error });
}

/** What the parser of arguments refused, as E_USAGE. */
export function usageFault(error: unknown): AshlarError {
  if (error instanceof ArgumentParseError) {
    const where = error.externalFlagNameOrPlaceholder;
    if (isFault(error.exception))
      return new AshlarError(error.exception.code, { where, ...error.exception.data });
    return usage({ where, found: error.input, hint: sentenceOf(error.exception) });
  }
  if (error instanceof FlagNotFoundError) {
    return usage({
      wanted: 'a known flag',
      found: `--${error.input}`,
      hint: suggestion(error.corrections.map((name) => `--${name}`)),
    });
  }
  if (error instanceof EnumValidationError) {
    const { externalFlagName: where, values, input: found } = error;
    return usage({ where: `--${where}`, wanted: values.join(', '), found });
  }
  if (error instanceof UnsatisfiedPositionalError)
    return usage({ wanted: error.placeholder, found: 'nothing' });
  if (error instanceof UnsatisfiedFlagError)
    return usage({ wanted: `a value for --${error.externalFlagName}`, found: 'nothing' });
  if (error instanceof UnexpectedPositionalError)
    return usage({ wanted: `at most ${counted(error.expectedCount, 'argument')}`, found: error.input });
  return error instanceof ArgumentScannerError ? usage({ found: error.message }) : faultOf(error);
}

export function unknownVerb(input: string, corrections: readonly string[]): AshlarError {
  const hint = suggestion(corrections) ?? 'ashlar --help lists the verbs.';
  return usage({ wanted: 'a verb', found: input, hint });
}

function usage({
  hint,
  ...data
}: {
  where?: string;
  wanted?: string;
  found: string;
  hint?: string | undefined;
}) {
  return new AshlarError('E_USAGE', hint === undefined ? data : { ...data, hint });
}

function suggestion(corrections: readonly string[]): string | undefined {
  return corrections.length === 0 ? undefined : `Did you mean ${corrections.join(' or ')}?`;
}

function sentenceOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** The fault as text. Where it is several, each further line is indented: a name with a line break in it makes none. */
export const faultText = ({ message }: AshlarError): string => message.replace(/\n(?! {2})/g, oneLine);

/** The fault as data: what `--json` prints on stderr. */
export function faultData({ code, data }: AshlarError) {
  const { cause: _, ...shown } = data;
  return { code, sentence: ERRORS[code].sentence, exit: ERRORS[code].exit, ...shown };
}
