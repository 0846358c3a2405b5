/**
 * `eligible`: whether a receipt may be admitted. Mechanical: its inputs hold no verdict that it reads, and neither
 * outcome nor grade is among them.
 */
import { link } from '../../store/format/cid.ts';
import { certifyRunV1 } from '../certify-run/v1.ts';
import type { Audit } from '../contracts/audit.ts';
import type { Eligibility } from '../contracts/eligibility.ts';
import { type Full, isRefused } from '../contracts/kit.ts';
import type { Parity } from '../contracts/parity.ts';
import { OUTCOME_STATUSES, type Status } from '../contracts/receipt.ts';
import type { RunCertificate } from '../contracts/run_certificate.ts';
import type { Start } from '../contracts/start.ts';
import { type ExecutorName, strengthOf } from '../contracts/study.ts';
import { parityV1 } from '../parity/v1.ts';
import { type Binding, defineRule, one, optional, type View } from '../rule.ts';
import { derivedBy, inputOf, isVoid, type Run, runOf } from '../runs.ts';
import { scrubV1 } from '../scrub/v1.ts';

type Reason = Full<Eligibility>['reasons'][number];

export const eligibleV1 = defineRule({
  name: 'eligible',
  v: 1,
  scope: 'attempt',
  gives: 'eligibility',
  needs: {
    receipt: one('receipt'),
    start: one('start'),
    audit: optional('audit'),
    runCertificate: one('run_certificate'),
    parity: one('parity'),
    study: one('study'),
  },
  on: ['run_certificate', 'parity'],
  async bind(subject, view) {
    if (subject.value.kind === 'parity') return bindAll(await receiptsOfParity(subject.value), view);
    const receipt = inputOf(subject.value, 'receipt');
    return receipt === undefined ? [] : bindAll([receipt], view);
  },
  async apply({ receipt, start, audit, runCertificate, parity, study }) {
    const reasons = [
      ...statusReasons(receipt.value.status),
      ...auditReasons(audit?.value, receipt.value.status),
      ...certificateReasons(runCertificate.value),
      ...parityReasons(parity.value),
      ...isolationReasons(start.value, study.value.isolation),
    ];
    return { receipt: link(receipt.cid), study: link(study.cid), eligible: reasons.length === 0, reasons };
  },
});

async function receiptsOfParity(parity: { readonly kind: string }) {
  const { derivation } = parity as Parity;
  const bound = derivation.inputs.receipts;
  return Array.isArray(bound) ? bound.map((each) => each['/']) : [];
}

async function bindAll(receipts: readonly Run['receiptCid'][], view: View): Promise<Binding[]> {
  const bindings: Binding[] = [];
  for (const cid of receipts) {
    const run = await runOf(cid, view);
    const binding = run === undefined ? undefined : await bindRun(run, view);
    if (binding !== undefined) bindings.push(binding);
  }
  return bindings;
}

async function bindRun(run: Run, view: View): Promise<Binding | undefined> {
  const scrub = await derivedBy(scrubV1, run.receiptCid, view);
  const certificate = scrub === undefined ? undefined : await derivedBy(certifyRunV1, scrub.cid, view);
  const parity = await derivedBy(parityV1, run.receiptCid, view);
  if (certificate === undefined || parity === undefined) return undefined;
  const { receipt, receiptCid, startCid, start } = run;
  const inputs = { receipt: receiptCid, start: startCid, study: start.study['/'] };
  const judged = { ...inputs, runCertificate: certificate.cid, parity: parity.cid };
  const audit = receipt.audit?.['/'];
  return { inputs: audit === undefined ? judged : { ...judged, audit } };
}

function statusReasons(status: Status): Reason[] {
  if (isVoid(status)) return ['void-status'];
  return (OUTCOME_STATUSES as readonly string[]).includes(status) ? [] : ['no-outcome'];
}

// A mutation outside makes the reward 0; it does not make the run ineligible, or an agent could void its own failure.
function auditReasons(audit: Audit | undefined, status: Status): Reason[] {
  const needed = (OUTCOME_STATUSES as readonly string[]).includes(status);
  return needed && (audit === undefined || isRefused(audit)) ? ['audit-missing'] : [];
}

function certificateReasons(certificate: RunCertificate): Reason[] {
  if (isRefused(certificate)) return ['certification-refused'];
  return certificate.findings.length > 0 ? ['certification-finding'] : [];
}

function parityReasons(parity: Parity): Reason[] {
  if (isRefused(parity)) return ['parity-refused'];
  return parity.findings.length > 0 ? ['parity-finding'] : [];
}

function isolationReasons(start: Start, minimum: ExecutorName): Reason[] {
  return strengthOf(start.executor) < strengthOf(minimum) ? ['isolation-too-weak'] : [];
}
