/**
 * Delivery as the public reports have it: a Claude Code session through the reader, ATIF and back, and the search by
 * field. The transcripts are those of the cases, written here as data.
 */
import t from 'tap';
import { findDelivered } from '../../../rules/deliver/find.ts';
import { fromAtif, toAtif } from '../../../rules/trajectory/atif.ts';
import { readClaudeCode } from '../../../rules/trajectory/claude-code.ts';
import { canonicalJson, parseJson } from '../../../store/format/json.ts';

const AGENT = { name: 'claude-code', version: '1', model_name: 'a-model' };
const PHRASE = 'never rename a column in one migration';

/** Where a phrase was delivered, through every layer that the rule goes through. */
function delivered(lines: readonly (object | string)[], phrase: string) {
  const text = lines.map((line) => `${typeof line === 'string' ? line : JSON.stringify(line)}\n`).join('');
  const { steps } = readClaudeCode(Buffer.from(text));
  const document = canonicalJson(toAtif(AGENT, steps));
  return findDelivered(fromAtif(parseJson(Buffer.from(document))), phrase).map(({ native, channel }) => ({
    native,
    channel,
  }));
}

const user = (text: string, more: object = {}) => ({
  type: 'user',
  uuid: 'u1',
  message: { role: 'user', content: text },
  ...more,
});
const agent = (...content: object[]) => ({
  type: 'assistant',
  uuid: 'a1',
  message: { role: 'assistant', content },
});
const says = (text: string) => agent({ type: 'text', text });
const hook = (
  uuid: string,
  hookEvent: string,
  content: readonly string[],
  type = 'hook_additional_context',
) => ({
  type: 'attachment',
  uuid,
  attachment: { type, hookName: hookEvent, hookEvent, content },
});

t.test('a hook that adds context delivers, and its provenance comment names the channel', (t) => {
  const lines = [
    user('Add the invoices field.'),
    hook('t1', 'UserPromptSubmit', [`<!-- memory channel=prompt id=m17 -->\nLesson: ${PHRASE}.`]),
    hook('t2', 'PostToolUse', ['<!-- memory channel=anchor id=m18 -->\nwarehouse 7 is returns-only']),
    says('ok'),
  ];
  t.same(delivered(lines, PHRASE), [{ native: 't1', channel: 'prompt' }]);
  t.same(delivered(lines, 'warehouse 7 is returns-only'), [{ native: 't2', channel: 'anchor' }]);
  t.end();
});

t.test('what only the user sees is no delivery', (t) => {
  const notice = {
    type: 'attachment',
    uuid: 't1',
    attachment: { type: 'hook_system_message', hookEvent: 'UserPromptSubmit', content: `[memory] ${PHRASE}` },
  };
  t.same(delivered([user('go'), notice, says('ok')], PHRASE), []);
  t.end();
});

t.test('what the agent says or writes is no delivery', (t) => {
  const writes = agent({ type: 'tool_use', id: 'x', name: 'Write', input: { content: PHRASE } });
  t.same(delivered([user('go'), says(`Rule of thumb: ${PHRASE}.`), writes], PHRASE), []);
  t.end();
});

t.test('a recap typed as user is no delivery', (t) => {
  const recap = user(`This session is being continued. Summary: ${PHRASE}.`, { isCompactSummary: true });
  const boundary = { type: 'system', subtype: 'compact_boundary', uuid: 'c0' };
  t.same(delivered([user('go'), says(`Remember: ${PHRASE}`), boundary, recap, says('ok')], PHRASE), []);
  t.end();
});

t.test('escapes, inner JSON and line breaks belong to the container, not to the text', (t) => {
  const phrase = 'use "soft" deletes \u2014 never hard';
  const context = (uuid: string, text: string) =>
    hook(uuid, 'UserPromptSubmit', [`<!-- memory channel=prompt -->\n${text}`]);
  const lines = [
    agent({ type: 'tool_use', id: 'q', name: 'search_memory', input: { query: 'deletes' } }),
    JSON.stringify(context('t1', phrase)).replace(/\u2014/g, '\\u2014'),
    {
      type: 'user',
      uuid: 'r1',
      message: {
        role: 'user',
        content: [
          { type: 'tool_result', tool_use_id: 'q', content: JSON.stringify({ hits: [{ text: phrase }] }) },
        ],
      },
    },
    context('t2', 'use "soft" deletes\n\u2014 never hard'),
  ];
  t.same(delivered(lines, phrase), [
    { native: 't1', channel: 'prompt' },
    { native: 'r1', channel: 'tool' },
    { native: 't2', channel: 'prompt' },
  ]);
  t.end();
});

t.test('the strings of one record are one text; two records are never joined', (t) => {
  const lines = [
    user('go'),
    hook('t1', 'UserPromptSubmit', [
      '<!-- memory channel=prompt -->\nnever rename a col',
      'umn in one migration',
    ]),
    hook('t2', 'SessionStart', ['half: drop tables only']),
    hook('t3', 'SessionStart', [' on Fridays']),
  ];
  t.same(delivered(lines, PHRASE), [{ native: 't1', channel: 'prompt' }]);
  t.same(delivered(lines, 'drop tables only on Fridays'), []);
  t.end();
});
