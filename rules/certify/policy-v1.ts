/**
 * What certification looks for: the first policy, as data with a digest.
 * Promises: canonical bytes, so that a certificate names exactly the policy that it used. Never edited.
 * Does not promise: a switch; a finding is removed by redaction, accepted where it may be, or it stands.
 */
import { type Cid, cidOf } from '../../store/format/cid.ts';
import { encode, type Value } from '../../store/format/codec.ts';
import { PATTERNS_V1 } from '../redact/patterns-v1.ts';
import { SECRET_SHAPES } from '../secrets.ts';

export const CERTIFICATION_V1 = {
  policy: 'certification',
  v: 1,
  autoLoaded: PATTERNS_V1,
  metadata: {
    /** Names of files that hold credentials, and of our own stores, wherever they are. */
    names: [
      '*.jks',
      '*.keystore',
      '*.p12',
      '*.pfx',
      '.ashlar',
      '.env',
      '.env.development',
      '.env.local',
      '.env.production',
      '.env.staging',
      '.git-credentials',
      '.htpasswd',
      '.netrc',
      '.pgpass',
      '.pypirc',
      '_netrc',
      'id_dsa',
      'id_ecdsa',
      'id_ed25519',
      'id_rsa',
    ],
    secrets: SECRET_SHAPES.filter((shape) => shape.publishedOnly !== true).map((shape) => shape.name),
  },
  awareness: {
    /** The harness's own names, as whole words with ASCII case folded, everywhere. */
    identity: ['ashlar'],
    /** Words that only a benchmark would write into these fields; longer ones first. */
    graphFields: [
      'negative-control',
      'ground-truth',
      'control-arm',
      'ablation',
      'arm',
      'baseline',
      'bench',
      'benchmark',
      'challenge',
      'condition',
      'control',
      'eval',
      'evaluation',
      'experiment',
      'experimental',
      'fixture',
      'grader',
      'harness',
      'hidden',
      'holdout',
      'oracle',
      'placebo',
      'synthetic',
      'treatment',
      'trial',
      'verifier',
    ],
  },
  patchNames: ['*.diff', '*.orig', '*.patch', '*.rej'],
} as const;

const bytes = encode(CERTIFICATION_V1 as unknown as Value);

/** The policy blob and its name. Whoever freezes a challenge or fixture puts `bytes` as a raw block. */
export const CERTIFICATION_POLICY: { readonly bytes: Uint8Array; readonly cid: Cid } = {
  bytes,
  cid: cidOf('raw', bytes),
};
