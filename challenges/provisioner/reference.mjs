#!/usr/bin/env node
/**
 * The reference provisioner: restores a memory graph from a state file, says what it holds, answers queries, destroys it.
 * Promises: one compact JSON object in, exactly one out; a verb that cannot do all of its work prints nothing on stdout,
 * one sentence on stderr, and exits with 2 (bad input), 3 (not there) or 4 (wrong digest or state). The same state and
 * query give the same answer on every machine. State lives under `$ASHLAR_PROVISIONER_ROOT/.projects`, one file a project,
 * replaced as a whole: two processes on two projects do not meet.
 * Does not promise: durability over a power cut, or an order between two processes on one project.
 */
import { createHash, randomUUID } from 'node:crypto';
import {
  closeSync,
  constants,
  fstatSync,
  mkdirSync,
  openSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join, sep } from 'node:path';

const INPUT_LIMIT = 1 << 20;
const ARTIFACT_LIMIT = 1 << 28;
const ID = /^[A-Za-z0-9][A-Za-z0-9_.:-]{0,127}$/;
const SHA256 = /^[0-9a-f]{64}$/;

class Refusal extends Error {
  constructor(exit, message) {
    super(message);
    this.exit = exit;
  }
}

function refuse(exit, message) {
  throw new Refusal(exit, message);
}

// ---- strict JSON: what JSON.parse accepts, without duplicate names and lone surrogates

function strictJson(bytes, where) {
  let text;
  try {
    text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    refuse(2, `${where}: not UTF-8`);
  }
  let value;
  try {
    value = JSON.parse(text);
  } catch {
    refuse(2, `${where}: not one JSON value`);
  }
  refuseDuplicates(text, where);
  return value;
}

/** Walks the tokens of a text that JSON.parse has accepted. */
function refuseDuplicates(text, where) {
  const open = [];
  let expectsName = false;
  for (const [token] of text.matchAll(/"[^"\\]*(?:\\.[^"\\]*)*"|[{}[\],:]/g)) {
    if (token === '{' || token === '[') {
      open.push(token === '{' ? new Set() : null);
      expectsName = token === '{';
    } else if (token === '}' || token === ']') {
      open.pop();
      expectsName = false;
    } else if (token === ',') {
      expectsName = open.at(-1) instanceof Set;
    } else if (token !== ':') {
      const string = JSON.parse(token);
      if (!string.isWellFormed()) refuse(2, `${where}: a lone surrogate`);
      if (!expectsName) continue;
      if (open.at(-1).has(string)) refuse(2, `${where}: ${JSON.stringify(string)} stands twice`);
      open.at(-1).add(string);
      expectsName = false;
    }
  }
}

// ---- shapes

function fields(value, names, where, optional = []) {
  if (value === null || typeof value !== 'object' || Array.isArray(value))
    refuse(2, `${where}: not an object`);
  for (const name of names) if (!Object.hasOwn(value, name)) refuse(2, `${where}: ${name} is missing`);
  for (const name of Object.keys(value)) {
    if (!names.includes(name) && !optional.includes(name))
      refuse(2, `${where}: unknown field ${JSON.stringify(name)}`);
  }
  return value;
}

function string(value, where) {
  if (typeof value !== 'string' || value === '') refuse(2, `${where}: not a non-empty string`);
  return value;
}

function id(value, where) {
  if (typeof value !== 'string' || !ID.test(value)) refuse(2, `${where}: not an identifier`);
  return value;
}

function list(value, where) {
  if (!Array.isArray(value)) refuse(2, `${where}: not a list`);
  return value;
}

// ---- artifacts: the bytes that are hashed are the bytes that are used

function artifact(root, value, where) {
  if (value === null) return null;
  const { path, sha256 } = fields(value, ['path', 'sha256'], where);
  string(path, `${where}.path`);
  if (typeof sha256 !== 'string' || !SHA256.test(sha256))
    refuse(2, `${where}.sha256: not 64 lower-case hex digits`);
  const segments = path.split('/');
  if (/[\\\0]/.test(path) || segments.some((one) => one === '' || one === '.' || one === '..')) {
    refuse(2, `${where}.path: not a plain relative path`);
  }
  const bytes = bytesInside(root, path, where);
  if (createHash('sha256').update(bytes).digest('hex') !== sha256) refuse(4, `${where}: another digest`);
  return bytes;
}

function bytesInside(root, path, where) {
  let real;
  try {
    real = realpathSync(join(root, path));
  } catch {
    refuse(3, `${where}: no such file`);
  }
  if (!real.startsWith(root + sep)) refuse(2, `${where}: leads out of the root`);
  const file = openSync(real, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  try {
    const stat = fstatSync(file);
    if (!stat.isFile()) refuse(2, `${where}: not a plain file`);
    if (stat.size > ARTIFACT_LIMIT) refuse(2, `${where}: over ${ARTIFACT_LIMIT} bytes`);
    return readFileSync(file);
  } finally {
    closeSync(file);
  }
}

// ---- state

const EMPTY = { nodes: [], edges: [], probes: null };

function graphFrom(bytes) {
  if (bytes === null) return EMPTY;
  const where = 'graph';
  const graph = fields(
    strictJson(bytes, where),
    ['project', 'workspace', 'branch', 'nodes', 'edges', 'probes'],
    where,
  );
  for (const name of ['project', 'workspace', 'branch']) string(graph[name], `${where}.${name}`);
  const nodes = list(graph.nodes, `${where}.nodes`).map((node, index) =>
    nodeFrom(node, `${where}.nodes[${index}]`),
  );
  const known = new Set(nodes.map((node) => node.id));
  if (known.size !== nodes.length) refuse(4, `${where}.nodes: an id stands twice`);
  const edges = list(graph.edges, `${where}.edges`).map((edge, index) =>
    edgeFrom(edge, known, `${where}.edges[${index}]`),
  );
  const probes = fields(graph.probes, ['fulltext', 'semantic', 'graph'], `${where}.probes`);
  for (const name of Object.keys(probes)) string(probes[name], `${where}.probes.${name}`);
  return { nodes, edges, probes };
}

/** Evidence is checked and not used: the graph was made of it before. */
function evidenceFrom(bytes) {
  if (bytes === null) return;
  const where = 'evidence';
  for (const [index, file] of list(strictJson(bytes, where), where).entries()) {
    const at = `${where}[${index}]`;
    const names = Object.keys(
      fields(file, [], at, ['path', 'pathBase64', 'text', 'base64', 'link', 'linkBase64']),
    );
    if (names.length !== 2) refuse(4, `${at}: not a path and a content`);
    for (const name of names) if (typeof file[name] !== 'string') refuse(4, `${at}.${name}: not a string`);
  }
}

function nodeFrom(node, where) {
  const { id: name, text } = fields(node, ['id', 'kind', 'at', 'source', 'text'], where);
  for (const field of ['kind', 'at', 'source']) string(node[field], `${where}.${field}`);
  return { id: id(name, `${where}.id`), text: string(text, `${where}.text`) };
}

function edgeFrom(edge, known, where) {
  const { from, to, kind } = fields(edge, ['from', 'to', 'kind'], where);
  string(kind, `${where}.kind`);
  for (const end of [from, to]) if (!known.has(end)) refuse(4, `${where}: no node ${JSON.stringify(end)}`);
  return { from, to };
}

function place(root, project) {
  return join(root, '.projects', `${id(project, 'project')}.json`);
}

/** Temporary name, then rename: another process sees the old state, or the whole new one. */
function save(root, project, state) {
  mkdirSync(join(root, '.projects'), { recursive: true });
  const path = place(root, project);
  const temporary = `${path}.${randomUUID()}`;
  writeFileSync(temporary, JSON.stringify(state), { flag: 'wx' });
  // Dying here leaves a file that no verb reads.
  renameSync(temporary, path);
}

function load(root, project) {
  const path = place(root, project);
  let bytes;
  try {
    bytes = readFileSync(path);
  } catch (error) {
    if (error.code !== 'ENOENT') throw error;
    refuse(3, `no such project: ${project}`);
  }
  return JSON.parse(bytes.toString());
}

// ---- search

const byCodeUnit = (a, b) => (a < b ? -1 : a > b ? 1 : 0);

const tokens = (text) => text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];

/** How often each word and each trigram of a word occurs; a word weighs three times a trigram. */
function bag(text) {
  const counts = new Map();
  const add = (key, weight) => counts.set(key, (counts.get(key) ?? 0) + weight);
  for (const token of tokens(text)) {
    if (token.length < 4) continue;
    add(token, 3);
    for (let at = 0; at + 3 <= token.length; at += 1) add(`#${token.slice(at, at + 3)}`, 1);
  }
  return counts;
}

function cosine(a, b) {
  let dot = 0;
  for (const [key, count] of a) dot += count * (b.get(key) ?? 0);
  const norm = (counts) => Math.sqrt([...counts.values()].reduce((total, count) => total + count * count, 0));
  return dot === 0 ? 0 : dot / (norm(a) * norm(b));
}

/** Nodes by falling similarity to the query, ties by id; what shares nothing with it is left out. */
function ranked(state, query) {
  const wanted = bag(query);
  return state.nodes
    .map((node) => ({ node, score: cosine(wanted, bag(node.text)) }))
    .filter(({ score }) => score > 0)
    .sort((a, b) => b.score - a.score || byCodeUnit(a.node.id, b.node.id))
    .map(({ node }) => node);
}

function fulltext(state, query) {
  const wanted = tokens(query);
  const holds = ({ text }) => {
    const present = new Set(tokens(text));
    return wanted.every((token) => present.has(token));
  };
  return state.nodes.filter(holds).map((node) => node.id);
}

function neighbours(state, centre) {
  const found = state.edges.filter((edge) => edge.from === centre || edge.to === centre);
  return [...new Set(found.map((edge) => (edge.from === centre ? edge.to : edge.from)))];
}

const SEMANTIC_PROBE_SIZE = 3;

function probesOf(state) {
  if (state.probes === null) return { fulltext: [], semantic: [], graph: [] };
  const ids = ranked(state, state.probes.semantic).map((node) => node.id);
  return {
    fulltext: fulltext(state, state.probes.fulltext).sort(byCodeUnit),
    semantic: ids.slice(0, SEMANTIC_PROBE_SIZE),
    graph: neighbours(state, state.probes.graph).sort(byCodeUnit),
  };
}

// ---- verbs

const seconds = (from) => Number(((performance.now() - from) / 1000).toFixed(6));

/** The name tells nothing but that two runs differ. */
function projectFor(fixture, identity) {
  return `project-${createHash('sha256')
    .update(JSON.stringify([fixture, identity]))
    .digest('hex')
    .slice(0, 16)}`;
}

function restore(root, input) {
  const from = performance.now();
  fields(input, ['fixture', 'graph_arm', 'run_identity', 'artifacts'], 'restore');
  string(input.fixture, 'fixture');
  if (input.graph_arm !== null) string(input.graph_arm, 'graph_arm');
  string(input.run_identity, 'run_identity');
  const { evidence_corpus, graph } = fields(input.artifacts, ['evidence_corpus', 'graph'], 'artifacts');
  evidenceFrom(artifact(root, evidence_corpus, 'artifacts.evidence_corpus'));
  const state = graphFrom(artifact(root, graph, 'artifacts.graph'));
  const project = projectFor(input.fixture, input.run_identity);
  save(root, project, state);
  return { project, queue_before_count: 0, restore_seconds: seconds(from) };
}

function snapshot(root, input) {
  const from = performance.now();
  const state = load(root, fields(input, ['project'], 'snapshot').project);
  return {
    state: { nodes: state.nodes.length, edges: state.edges.length },
    probes: probesOf(state),
    queue_after_count: 0,
    snapshot_seconds: seconds(from),
  };
}

/** A project that is gone already is as good: clean-up may run twice. */
function destroy(root, input) {
  rmSync(place(root, fields(input, ['project'], 'destroy').project), { force: true });
  return { ok: true };
}

function recall(root, input) {
  fields(input, ['project', 'query', 'channel', 'limit'], 'recall');
  if (typeof input.query !== 'string') refuse(2, 'query: not a string');
  if (!['prompt', 'hook', 'tool', 'native'].includes(input.channel)) refuse(2, 'channel: not one we serve');
  if (!Number.isSafeInteger(input.limit) || input.limit < 0) refuse(2, 'limit: not a count');
  const state = load(root, input.project);
  return { memories: ranked(state, input.query).slice(0, input.limit) };
}

const VERBS = { restore, snapshot, destroy, recall };

async function input() {
  const chunks = [];
  let size = 0;
  for await (const chunk of process.stdin) {
    size += chunk.length;
    if (size > INPUT_LIMIT) refuse(2, `input: over ${INPUT_LIMIT} bytes`);
    chunks.push(chunk);
  }
  return strictJson(Buffer.concat(chunks), 'input');
}

async function main(argv, env) {
  const verb = Object.hasOwn(VERBS, argv[0] ?? '') && argv.length === 1 ? VERBS[argv[0]] : undefined;
  if (verb === undefined) refuse(2, `usage: reference.mjs ${Object.keys(VERBS).join(' | ')}`);
  const given = env.ASHLAR_PROVISIONER_ROOT;
  if (given === undefined || given === '') refuse(2, 'ASHLAR_PROVISIONER_ROOT names no folder');
  let root;
  try {
    root = realpathSync(given);
  } catch {
    refuse(2, 'ASHLAR_PROVISIONER_ROOT names no folder');
  }
  process.stdout.write(`${JSON.stringify(verb(root, await input()))}\n`);
}

try {
  await main(process.argv.slice(2), process.env);
} catch (error) {
  process.stderr.write(`${error instanceof Refusal ? error.message : error.stack}\n`);
  process.exitCode = error instanceof Refusal ? error.exit : 1;
}
