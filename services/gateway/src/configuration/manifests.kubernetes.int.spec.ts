/** infra/kubernetes against the schemas of Kubernetes and the program that it runs: a cluster that could try it is not everywhere. */
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { rootCertificates } from 'node:tls';
import { afterAll, describe, expect, it } from 'vitest';
import { broughtAlong, faultsIn } from './testing/manifest-faults.ts';
import { type Manifests, buildManifests, schemaFaults } from './testing/manifests.ts';

/** The oldest version with all fields that we use, and the newest that the validator knows. */
const kubernetesVersions = ['1.30', '1.37'];

const workspace = join(import.meta.dirname, '..', '..', '..', '..');
const read = (...path: string[]) => readFileSync(join(workspace, ...path), 'utf8');

const folder = mkdtempSync(join(tmpdir(), 'tollgate-manifests-'));
afterAll(() => rmSync(folder, { recursive: true }));

const authorityFile = join(folder, 'authority.pem');
writeFileSync(authorityFile, rootCertificates[0] ?? '');

/** A copy for planted mistakes. */
function copyManifests(): string {
  const copy = mkdtempSync(join(folder, 'copy-'));
  cpSync(join(workspace, 'infra', 'kubernetes'), copy, { recursive: true });
  return copy;
}

function writeDown({ text }: Manifests): string {
  const file = join(mkdtempSync(join(folder, 'built-')), 'manifests.yaml');
  writeFileSync(file, text);
  return file;
}

async function expectWhole(manifests: Manifests): Promise<void> {
  const file = writeDown(manifests);
  expect(manifests.kinds.length).toBeGreaterThan(30);
  for (const each of kubernetesVersions) expect(await schemaFaults(file, manifests.kinds, each)).toEqual([]);
  expect(faultsIn(manifests, authorityFile)).toEqual([]);
}

it.each(['base', 'overlays/three-replicas'])(
  '%s is valid for Kubernetes and for the program',
  async (name) => {
    await expectWhole(await buildManifests(join(workspace, 'infra', 'kubernetes', name)));
  },
);

describe('three replicas', () => {
  it('are three of each service, each on its own node', async () => {
    const { deployments } = await buildManifests(
      join(workspace, 'infra', 'kubernetes', 'overlays', 'three-replicas'),
    );
    for (const { spec } of deployments) {
      expect(spec.replicas).toBe(3);
      expect(spec.template.spec).toMatchObject({
        topologySpreadConstraints: [
          { topologyKey: 'kubernetes.io/hostname', whenUnsatisfiable: 'DoNotSchedule' },
          {},
        ],
      });
    }
  });
});

describe('the documentation', () => {
  const page = read('docs', 'operator', 'kubernetes.md');

  it('has a complete sample installation', async () => {
    // The block is part of a numbered list.
    const [, indented = ''] = /```yaml\n( *# kustomization\.yaml[\s\S]*?) *```/.exec(page) ?? [];
    const installation = indented.replaceAll(/^ {3}/gm, '');
    const copy = copyManifests();
    const own = join(copy, 'own');
    mkdirSync(own);
    writeFileSync(join(own, 'kustomization.yaml'), installation.replace('tollgate/infra/kubernetes', '..'));
    writeFileSync(
      join(own, 'accounts.json'),
      read('infra', 'kubernetes', 'base', 'settings', 'accounts.json'),
    );
    const manifests = await buildManifests(own);
    await expectWhole(manifests);
    expect(manifests.text).toContain('image: registry.example/tollgate:');
    expect(manifests.text).not.toContain('eventstoredb.example');
  });

  it('documents how to create each prerequisite', () => {
    for (const name of broughtAlong.secrets) expect(page).toContain(`create secret generic ${name} `);
    for (const name of broughtAlong.configMaps) expect(page).toContain(`create configmap ${name} `);
  });

  it('lists the oldest and the newest tested Kubernetes', () => {
    expect(page).toContain(kubernetesVersions.join(' and '));
  });
});

/** A mistake in a file of the base, and its report. */
type Mistake = [file: string, from: string, to: string, says: string];

const malformed: Mistake[] = [
  [
    'patches/pod.yaml',
    'readOnlyRootFilesystem',
    'readOnlyRootFileSystem',
    "'readOnlyRootFileSystem' was unexpected",
  ],
  [
    'patches/service.yaml',
    'failureThreshold: 120',
    "failureThreshold: '120'",
    "'120' is not of type 'integer'",
  ],
  ['projector.yaml', 'policy/v1\n', 'policy/v1beta1\n', 'schema for kind PodDisruptionBudget'],
];

const waysOfFrontDoor = 'values: [command-service, query-service, notifier]';
const ownSecret = 'secretGenerator: [{ name: own, literals: [key=value] }]';
const strangersSecret = 'args: [projector]\n          env: [{ name: WEBHOOK_SECRETS, value: k1 }]';

const misfitting: Mistake[] = [
  ['kustomization.yaml', '  - notifier.yaml\n', '', 'notifier has no Deployment'],
  ['projector.yaml', 'name: projector', 'name: folder', 'there is no service folder'],
  ['projector.yaml', 'args: [projector]', 'args: [notifier]', 'projector runs another service'],
  ['api.yaml', 'NOTIFIER_URL', 'NOTIFER_URL', 'api: no service reads NOTIFER_URL'],
  ['projector.yaml', 'args: [projector]', strangersSecret, 'projector has no use for WEBHOOK_SECRETS'],
  ['settings/kafka.env', 'KAFKA_TLS=true', 'KAFKA_TLS=yes', 'KAFKA_TLS must be true or false'],
  ['settings/kafka.env', 'KAFKA_REPLICATION=3', '', 'topics: KAFKA_REPLICATION is empty'],
  ['settings/accounts.json', 'https://pay', 'http://pay', 'must be an address that begins with https://'],
  ['patches/service.yaml', '/readyz', '/ready', 'projector: no service answers its readinessProbe'],
  ['patches/service.yaml', 'containerPort: 3000', 'containerPort: 3030', 'does not listen at 3030'],
  ['patches/service.yaml', 'PeriodSeconds: 30', 'PeriodSeconds: 20', 'notifier is killed while it stops'],
  [
    'kustomization.yaml',
    '|notifier|callback-ingester',
    '|callback-ingester',
    'notifier: its pause before the stop',
  ],
  [
    'patches/event-store.yaml',
    'event-store-user',
    'event-store-owner',
    'no manifest creates event-store-owner',
  ],
  ['kustomization.yaml', '\nimages:', `\n${ownSecret}\nimages:`, 'a Secret is among the manifests'],
  ['network.yaml', waysOfFrontDoor, waysOfFrontDoor.replace('notifier', 'projector'), 'api → projector:3000'],
  ['network.yaml', '10.0.0.0/8, ', '', 'open, and not needed: command-service → outside:443'],
  ['kustomization.yaml', 'part-of: tollgate', 'part-of: another', 'any pod ↔ projector'],
  ['network.yaml', 'port: 2113', 'port: 2114', 'closed, and needed: projector → outside:2113'],
];

/** Builds a copy of the base with a mistake in it. */
async function buildMistaken([file, from, to]: Mistake): Promise<Manifests> {
  const base = join(copyManifests(), 'base');
  const text = readFileSync(join(base, file), 'utf8');
  expect(text).toContain(from);
  writeFileSync(join(base, file), text.replace(from, to));
  return buildManifests(base);
}

describe('a mistake is found', () => {
  it.each(malformed)('by the schemas in %s: %j → %j', async (...mistake) => {
    const manifests = await buildMistaken(mistake);
    const faults = await schemaFaults(writeDown(manifests), manifests.kinds, '1.37');
    expect(faults.join('\n')).toContain(mistake[3]);
  });

  it.each(misfitting)('by the program in %s: %j → %j', async (...mistake) => {
    const manifests = await buildMistaken(mistake);
    expect(faultsIn(manifests, authorityFile).join('\n')).toContain(mistake[3]);
  });
});
