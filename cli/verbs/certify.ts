/** `certify`: the findings of a challenge with its fixture, or of any folder. */
import { stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import { openTrigger } from '../../daemon/trigger.ts';
import { viewOf } from '../../daemon/view.ts';
import { detectors } from '../../rules/certify/detect.ts';
import { nameRules, parseCertificationPolicy } from '../../rules/certify/policy.ts';
import { CERTIFICATION_POLICY } from '../../rules/certify/policy-v1.ts';
import { examineTree, missingFinding } from '../../rules/certify/surfaces.ts';
import { acceptable } from '../../rules/certify/v1.ts';
import type { Finding } from '../../rules/contracts/certificate.ts';
import { isRefused } from '../../rules/contracts/kit.ts';
import { viewAs } from '../../rules/runs.ts';
import { folderToTree } from '../../store/folder.ts';
import type { Cid } from '../../store/format/cid.ts';
import { fail } from '../../store/format/errors.ts';
import type { Store } from '../../store/store.ts';
import { recordOf } from '../objects.ts';
import { type StoreFlag, withStore } from '../open.ts';
import type { Out } from '../output.ts';
import { oneLine } from '../printable.ts';
import { withScratch } from '../scratch.ts';
import { catalogued } from '../studies.ts';
import { maybe, STORE_FLAG, verb, word } from '../verb.ts';

export const command = verb<StoreFlag, [what: string, fixture?: string]>({
  example: 'ashlar certify .\nashlar certify late-departure-memory-only quayside-surcharges',
  about:
    'A folder needs no store. Exit status 5 while a finding stands in the way; `ashlar accept` lets one of kind\npatch-or-diff stand, all others can only be redacted away.',
  flags: { store: STORE_FLAG },
  args: {
    kind: 'tuple',
    parameters: [
      word('FOLDER|CERTIFICATE|CHALLENGE', 'A folder; a certificate; or a challenge by CID, name or id'),
      maybe('FIXTURE', 'With a challenge: a fixture by CID, name or id'),
    ],
  },
  async run(cli, flags, what, fixture) {
    const folder = resolve(cli.cwd, what);
    const found = fixture === undefined ? await stat(folder).catch(() => undefined) : undefined;
    if (found?.isDirectory() === true) return withScratch((store) => certifyFolder(cli.out, store, folder));
    await withStore(cli, flags, fixture === undefined ? 'read' : 'write', async (store) => {
      const cid =
        fixture === undefined
          ? await recordOf(store, what, 'certificate')
          : await pairs(store, what, fixture);
      await printCertificate(cli.out, store, cid);
    });
  },
});

async function certifyFolder(out: Out, reader: Store, folder: string): Promise<void> {
  const { tree } = await folderToTree(folder, reader.put);
  const policy = parseCertificationPolicy(CERTIFICATION_POLICY.bytes);
  const missing = (surface: string, path: string) => [missingFinding(surface, path)];
  const rules = { reader, policy, names: nameRules(policy), content: detectors(policy, []), missing };
  const findings = await examineTree('folder', tree, { ...rules, seen: new Map() });
  await printFindings(out, findings);
  if (findings.length > 0)
    fail('E_GATE', { where: folder, wanted: 'no finding', found: String(findings.length) });
}

async function pairs(store: Store, challenge: string, fixture: string): Promise<Cid> {
  const [asked, beside] = [
    await catalogued(store, 'challenge', challenge),
    await catalogued(store, 'fixture', fixture),
  ];
  await openTrigger(store).settle();
  const view = viewOf(store);
  const found: Cid[] = [];
  for (const cid of await view.linkers(asked, 'certificate'))
    if ((await view.linkers(beside, 'certificate')).includes(cid)) found.push(cid);
  return (
    found.at(-1) ?? fail('E_GATE', { where: challenge, wanted: `a fixture that serves it`, found: fixture })
  );
}

async function printCertificate(out: Out, store: Store, cid: Cid): Promise<void> {
  const view = viewOf(store);
  const certificate = await viewAs('certificate', cid, view);
  if (isRefused(certificate))
    fail('E_GATE', { where: cid, wanted: 'a certificate', found: certificate.refused.detail });
  const acceptances = [];
  for (const each of await view.linkers(cid, 'acceptance'))
    acceptances.push(await viewAs('acceptance', each, view));
  const standing = new Set(acceptable(certificate, acceptances));
  const surfaces = certificate.surfaces.map(({ name }) => name);
  const summary = {
    certificate: cid,
    surfaces,
    findings: certificate.findings.length,
    standing: standing.size,
  };
  await out.print(summary, `certificate ${cid}\ncovers ${oneLine(surfaces.join(', '))}`);
  await printFindings(out, certificate.findings, standing);
  if (standing.size > 0) fail('E_GATE', { where: cid, wanted: 'no finding', found: String(standing.size) });
}

async function printFindings(
  out: Out,
  findings: readonly Finding[],
  standing?: ReadonlySet<Finding>,
): Promise<void> {
  for (const finding of findings) {
    const { kind, surface, path, line, pattern } = finding;
    const accepted = standing !== undefined && !standing.has(finding);
    const at = `${path}${line === undefined ? '' : `:${line}`}`;
    const mark = accepted ? '  accepted' : '';
    await out.print(
      { ...finding, accepted },
      `${out.style(accepted ? 'dim' : 'red', kind.padEnd(20))} ${oneLine(`${surface} ${at}  (${pattern})`)}${mark}`,
    );
  }
  if (findings.length === 0 && !out.json) await out.print({}, 'no findings');
}
