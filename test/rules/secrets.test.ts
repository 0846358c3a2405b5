import t from 'tap';
import { LONGEST_SECRET, SECRET_FINDERS } from '../../rules/secrets.ts';
import { latin1 } from '../../rules/windows.ts';

// Every shape is put together here, so that no file holds one.
const abc = 'aB3dE5fG7hI9jK1lM2nO4pQ6rS8tU0vW';
const samples: Record<string, string> = {
  'private-key': `-----BEGIN ${'RSA'} PRIVATE ${'KEY'}-----\nMIIE${abc.repeat(3)}\n-----END ${'RSA'} PRIVATE ${'KEY'}-----`,
  'aws-access-key-id': `AK${'IA'}Q3EGRV7N5XKJ2M4P`,
  'aws-secret-access-key': `${abc}${'x'.repeat(8)}`,
  'google-api-key': `AI${'zaSy'}A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q`,
  'google-oauth-token': `ya${'29.'}${abc}`,
  'google-client-secret': `GOC${'SPX-'}${abc.slice(0, 28)}`,
  'github-token': `gh${'p_'}${abc}abcd`,
  'github-fine-grained-token': `github${'_pat_'}${abc}`,
  'gitlab-token': `gl${'pat-'}${abc.slice(0, 20)}`,
  'anthropic-key': `sk-${'ant-'}api03-${abc}`,
  'model-provider-key': `sk${'-'}${abc}`,
  'hugging-face-token': `h${'f_'}${abc}`,
  'npm-token': `np${'m_'}${abc}abcd`,
  'pypi-token': `py${'pi-'}AgE${abc.repeat(2)}`,
  'slack-token': `xo${'xb-'}123456789-${abc}`,
  'slack-webhook': `hooks.${'slack'}.com/services/T00000000/B00000000/${abc.slice(0, 24)}`,
  'stripe-key': `sk_${'live_'}${abc}`,
  'sendgrid-key': `S${'G.'}${abc.slice(0, 22)}.${abc}${abc.slice(0, 11)}`,
  'api-key-header': `${'f'.repeat(8)}0123456789abcdef`,
  'authorization-header': abc,
  'json-web-token': `ey${'J'}${abc}.ey${'J'}${abc}.${abc}`,
  'url-password': 'hunter2hunter2',
  'assigned-key': abc,
};
const around: Record<string, (value: string) => string> = {
  'aws-secret-access-key': (value) => `aws_${'secret'}_access_key = ${value}`,
  'api-key-header': (value) => `x-api-${'key'}: ${value}`,
  'authorization-header': (value) => `Authoriz${'ation'}: Bearer ${value}`,
  'url-password': (value) => `postgres://user:${value}@db.invalid/x`,
  'assigned-key': (value) => `MODEL_API_${'KEY'}=${value}`,
};

/** Names and text of all that is found. */
function found(text: string): [string, string][] {
  const bytes = latin1(Buffer.from(text));
  return SECRET_FINDERS.flatMap(({ name, find }) => {
    const span = find(bytes, 0);
    return span === undefined ? [] : [[name, bytes.slice(span.start, span.end)] as [string, string]];
  });
}

t.test('every shape is found: bare, in quotes, behind an escape, in JSON within JSON', async (t) => {
  t.same(
    Object.keys(samples).sort(),
    SECRET_FINDERS.map(({ name }) => name).sort(),
    'each shape has a sample',
  );
  for (const [name, value] of Object.entries(samples)) {
    const line = (around[name] ?? ((text: string) => `see ${text}`))(value);
    const json = JSON.stringify({ t: `first\n${line}\nlast` });
    for (const text of [line, `'${line}'`, json, JSON.stringify({ inner: json }), `?q=${'%20'}${line}`]) {
      const hit = found(text).find(([each]) => each === name);
      t.ok(hit, `${name} in ${text.length} characters`);
      if (name !== 'private-key') t.equal(hit?.[1], value, 'and no more than the secret');
      t.ok((hit?.[1].length ?? 0) <= LONGEST_SECRET);
    }
  }
});

t.test('a whole key block is taken, escaped or not, with or without its end', async (t) => {
  const block = samples['private-key']!;
  t.same(found(`x ${block} y`), [['private-key', block]]);
  const escaped = JSON.stringify(block).slice(1, -1);
  t.same(found(`"${escaped}"`), [['private-key', escaped]]);
  t.equal(found(block.slice(0, -34))[0]?.[0], 'private-key');
});

t.test('ordinary text, examples, digests, names and code hold none', async (t) => {
  const texts = [
    '/workspace/src/a.rs /usr/lib/node https://example.com/home/alice ~/.smb-work/x',
    `sha512-${'a'.repeat(86)}== sha256:${'0f'.repeat(32)} ${'ab12'.repeat(10)}`,
    'ASIAPACIFIC ASIAPACIFICREGION AKIA',
    `AK${'IA'}IOSFODNN7EXAMPLE wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY`,
    'class="sk-fading-circle sk-cube-grid-component-name-long" task-scheduler-with-a-long-name risk-assessment',
    'const API_KEY = process.env.API_KEY; // set API_KEY=your-key-goes-right-here',
    `headers: { authorization: \`Bearer $${'{token}'}\`, "x-api-key": apiKey }`,
    'Authorization: Bearer <token>',
    'curl -H "x-api-key: $API_KEY" https://user@example.com:443/a:b@c',
    "const begin = '-----BEGIN PRIVATE KEY-----';\nconst end = '-----END PRIVATE KEY-----';",
    'npm_config_registry npm_lifecycle_event hf_hub_download ghp_ github_pat_ xoxo-hugs',
    'bafkreihdwdcefgh4dqkjv67uzcmw7ojee6xedzdetojuzjevtenxquvyku mem_0123456789ab',
    'eyJhbGciOi is how a token begins',
    'git@github.com:owner/repo.git ssh://git@host:22/x',
  ];
  for (const text of texts) t.same(found(text), [], text.slice(0, 40));
});

t.test('a redaction mark is no secret', async (t) => {
  for (const name of Object.keys(samples)) {
    const mark = `[redacted:${name}]`;
    t.same(found((around[name] ?? ((text: string) => text))(mark)), [], name);
  }
});
