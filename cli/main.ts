#!/usr/bin/env node
/**
 * The command line: finds the verb, loads only that one, and turns what it throws into a sentence and an exit status.
 * Promises: exit statuses of the error catalogue, 0 where a reader of stdout went away; no stack trace; help lists
 * exactly the verbs that work.
 */
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import {
  type Application,
  buildApplication,
  buildCommand,
  buildRouteMap,
  type Command,
  run,
  type StricliProcess,
  text_en,
} from '@stricli/core';
import { faultData, faultOf, faultText, unknownVerb, usageFault } from './fault.ts';
import { GONE, openOutput } from './output.ts';
import type { Cli } from './verb.ts';
import { VERBS } from './verbs.ts';

/** The folder that holds package.json: of a checkout or of an installation. */
function installation(): string {
  let at = dirname(fileURLToPath(import.meta.url));
  while (!existsSync(join(at, 'package.json'))) at = dirname(at);
  return at;
}

const stub = (brief: string) =>
  buildCommand<Record<never, never>, [], Cli>({ func: () => undefined, parameters: {}, docs: { brief } });

/** Every verb by its line; only the wanted one with its code. */
async function commands(wanted: string | undefined): Promise<Record<string, Command<Cli>>> {
  const all: Record<string, Command<Cli>> = {};
  for (const [name, { brief, load }] of Object.entries(VERBS))
    all[name] = name === wanted ? (await load()).command(brief) : stub(brief);
  return all;
}

const ABOUT = `Content-addressed artifacts and content-triggered runs, for measuring whether memory helps a coding agent.

Example:
  ashlar init && ashlar put README.md

ashlar VERB --help says more, with an example.`;

interface Caught {
  error?: unknown;
}

async function application(argv: readonly string[], caught: Caught): Promise<Application<Cli>> {
  const root = buildRouteMap<string, Cli>({
    routes: await commands(argv.find((word) => !word.startsWith('-'))),
    docs: { brief: 'ashlar', fullDescription: ABOUT },
  });
  const { version } = JSON.parse(readFileSync(join(installation(), 'package.json'), 'utf8'));
  const caught_ = (error: unknown) => {
    caught.error = error;
    return '';
  };
  const text = {
    ...text_en,
    noCommandRegisteredForInput: ({
      input,
      corrections,
    }: {
      input: string;
      corrections: readonly string[];
    }) => caught_(unknownVerb(input, corrections)),
    exceptionWhileParsingArguments: (error: unknown) => caught_(usageFault(error)),
    exceptionWhileLoadingCommandFunction: caught_,
    exceptionWhileLoadingCommandContext: caught_,
    exceptionWhileRunningCommand: caught_,
    commandErrorResult: caught_,
  };
  return buildApplication(root, {
    name: 'ashlar',
    versionInfo: { currentVersion: version },
    scanner: { caseStyle: 'allow-kebab-for-camel', allowArgumentEscapeSequence: true },
    localization: { loadText: () => text },
  });
}

async function main(argv: readonly string[]): Promise<number> {
  const json = argv.includes('--json');
  const { env, stdin, stdout, stderr } = process;
  const out = openOutput({ stdout, stderr, env, json });
  const caught: Caught = {};
  // The parser's own messages are errors that we print ourselves; help and version go to stdout.
  const shown: StricliProcess = {
    stdout: { write: (text) => out.say(text.trimEnd(), text.trimEnd()), ...depthOf(stdout) },
    stderr: { write: () => {} },
    env,
  };
  const context = { process: shown, out, env, cwd: process.cwd(), stdin, root: installation() };
  try {
    await run(await application(argv, caught), argv, { ...context, locale: 'en' });
    if (caught.error !== undefined) throw caught.error;
    await out.flush();
    return 0;
  } catch (error) {
    await out.flush().catch(() => undefined);
    if (error === GONE) return 0;
    const fault = faultOf(error);
    if (json) out.note(JSON.stringify(faultData(fault)));
    else out.note(`ashlar: ${faultText(fault)}`, 'red');
    return fault.exit;
  }
}

function depthOf(stream: NodeJS.WriteStream) {
  return stream.isTTY ? { getColorDepth: () => stream.getColorDepth() } : {};
}

process.exitCode = await main(process.argv.slice(2));
