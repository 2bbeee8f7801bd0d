/** The built Kubernetes manifests, as far as the program depends on them. */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { parseAllDocuments } from 'yaml';

const run = promisify(execFile);

type Labels = Readonly<Record<string, string>>;

interface Probe {
  httpGet?: { path: string; port: string };
}

interface Reference {
  name: string;
  key: string;
}

export interface Container {
  image: string;
  args?: string[];
  env: {
    name: string;
    value?: string;
    valueFrom?: { configMapKeyRef?: Reference; secretKeyRef?: Reference };
  }[];
  ports?: { name: string; containerPort: number }[];
  startupProbe?: Probe;
  livenessProbe?: Probe;
  readinessProbe?: Probe;
  lifecycle?: { preStop?: { sleep?: { seconds: number } } };
}

interface Volume {
  name: string;
  configMap?: { name: string };
  projected?: { sources: { configMap?: { name: string }; secret?: { name: string } }[] };
}

interface PodTemplate {
  metadata: { labels: Labels };
  spec: {
    containers: [Container, ...Container[]];
    volumes: Volume[];
    terminationGracePeriodSeconds?: number;
  };
}

interface Manifest<Kind extends string, Spec> {
  kind: Kind;
  metadata: { name: string };
  spec: Spec;
}

export type Workload = Manifest<
  'Deployment' | 'Job',
  { replicas?: number; strategy?: object; template: PodTemplate }
>;
type Service = Manifest<'Service', object>;

export interface Selector {
  matchLabels?: Labels;
  matchExpressions?: { key: string; operator: string; values: string[] }[];
}
export interface Peer {
  podSelector?: Selector;
  namespaceSelector?: Selector;
  ipBlock?: { cidr: string; except?: string[] };
}
export interface Rule {
  from?: Peer[];
  to?: Peer[];
  ports: { port: number }[];
}
type Policy = Manifest<
  'NetworkPolicy',
  { podSelector: Selector; policyTypes: string[]; ingress?: Rule[]; egress?: Rule[] }
>;

export interface Manifests {
  /** As kustomize prints them. */
  text: string;
  kinds: readonly string[];
  deployments: readonly Workload[];
  /** Deployments and Jobs. */
  workloads: readonly Workload[];
  services: readonly Service[];
  policies: readonly Policy[];
  configMaps: ReadonlyMap<string, Readonly<Record<string, string>>>;
}

/** As fetched by `npm run test:kubernetes`. */
function tool(name: 'KUSTOMIZE' | 'KUBERNETES_VALIDATOR'): string {
  const path = process.env[name];
  if (path === undefined) throw new Error(`${name} is not set: npm run test:kubernetes sets it.`);
  return path;
}

export async function buildManifests(folder: string): Promise<Manifests> {
  const { stdout } = await run(tool('KUSTOMIZE'), ['build', folder], { maxBuffer: 16 * 1024 * 1024 });
  return readManifests(stdout);
}

function readManifests(text: string): Manifests {
  const all = parseAllDocuments(text).map((document) => document.toJS() as Manifest<string, unknown>);
  const ofKind = (...kinds: string[]) => all.filter(({ kind }) => kinds.includes(kind));
  const configMaps = ofKind('ConfigMap').map(
    (each) => [each.metadata.name, (each as unknown as { data: Record<string, string> }).data] as const,
  );
  return {
    text,
    kinds: all.map(({ kind }) => kind),
    deployments: ofKind('Deployment') as Workload[],
    workloads: ofKind('Deployment', 'Job') as Workload[],
    services: ofKind('Service') as Service[],
    policies: ofKind('NetworkPolicy') as Policy[],
    configMaps: new Map(configMaps),
  };
}

/**
 * Validates each manifest against the schemas of a Kubernetes version; an unknown field or kind is a fault.
 *
 * @param file with the build output; `kinds` must all have results
 */
export async function schemaFaults(
  file: string,
  kinds: readonly string[],
  version: string,
): Promise<readonly string[]> {
  const argv = ['-m', 'kubernetes_validate', '--strict', '--kubernetes-version', version, file];
  const env = { ...process.env, PYTHONPATH: tool('KUBERNETES_VALIDATOR') };
  // It exits with 1 if there are faults, and prints them on its standard output.
  const { stdout } = await run('python3', argv, { env }).catch(
    (error: unknown) => error as { stdout: string },
  );
  const verdicts = stdout.trim().split('\n');
  const faults = verdicts.filter((line) => !line.startsWith('INFO '));
  const unjudged = kinds.length - verdicts.length;
  return unjudged === 0 ? faults : [...faults, `${unjudged} manifests were not judged`];
}
