/** Compares Kubernetes manifests with the program that they run. */
import { readConfig } from '@tollgate/service-kit';
import Fastify from 'fastify';
import { stopBudgetMs } from '../../composition/gateway.ts';
import { registerHealthRoutes } from '../../edge/health-routes.ts';
import { parseAccounts } from '../account-config.ts';
import { variableNames } from '../config-fields.ts';
import { gatewayConfigSchema } from '../config.ts';
import { serviceNames } from '../service-names.ts';
import { variablesOf } from '../service-variables.ts';
import type { Container, Manifests, Peer, Rule, Selector, Workload } from './manifests.ts';

/** @param authorityFile a PEM file in the place of those that an installation mounts */
type Check = (manifests: Manifests, authorityFile: string) => readonly string[];

/** Messages; none if there are no faults. */
export const faultsIn: Check = (manifests, authorityFile) =>
  checks.flatMap((check) => check(manifests, authorityFile));

const containerOf = ({ spec }: Workload): Container => spec.template.spec.containers[0];

const differences = (actual: readonly string[], expected: readonly string[]) => ({
  missing: expected.filter((each) => !actual.includes(each)),
  extra: actual.filter((each) => !expected.includes(each)),
});

const everyServiceRuns: Check = ({ deployments }) => {
  const { missing, extra } = differences(
    deployments.map(({ metadata }) => metadata.name),
    serviceNames,
  );
  const misnamed = deployments.filter(
    (each) => containerOf(each).args?.join(' ') !== each.metadata.name && !extra.includes(each.metadata.name),
  );
  return [
    ...missing.map((name) => `${name} has no Deployment`),
    ...extra.map((name) => `there is no service ${name}`),
    ...misnamed.map(({ metadata }) => `${metadata.name} runs another service`),
  ];
};

/** One entry in the program's format. */
const ofASecret = `kid:${'from a Secret '.repeat(3)}`;

/** Values of Secrets are not known, but their form; that of a ConfigMap which is not there is undefined. */
function environmentOf(workload: Workload, { configMaps }: Manifests): Record<string, string | undefined> {
  return Object.fromEntries(
    containerOf(workload).env.map(({ name, value, valueFrom }) => {
      const { configMapKeyRef: reference, secretKeyRef } = valueFrom ?? {};
      if (secretKeyRef !== undefined) return [name, name.endsWith('_SECRETS') ? ofASecret : 'from a Secret'];
      return [name, reference === undefined ? value : configMaps.get(reference.name)?.[reference.key]];
    }),
  );
}

/** A process that is broken into has no secret that it does not need itself. The job `topics` makes the topics by the command line. */
const usedBy = (workload: string): readonly string[] => {
  const service = serviceNames.find(
    (name) => name === (workload === 'topics' ? 'event-publisher' : workload),
  );
  return ['NODE_OPTIONS', 'TOLLGATE_INDEX_DIR', ...(service === undefined ? [] : variablesOf(service))];
};

const everyVariableIsUnderstood: Check = (manifests, authorityFile) => {
  const known = ['NODE_OPTIONS', ...variableNames(gatewayConfigSchema)];
  return manifests.workloads.flatMap((workload) => {
    const { name } = workload.metadata;
    const environment = environmentOf(workload, manifests);
    const names = Object.keys(environment);
    return [
      ...names.filter((each) => !known.includes(each)).map((each) => `${name}: no service reads ${each}`),
      ...names.filter((each) => !environment[each]).map((each) => `${name}: ${each} is empty`),
      ...names.filter((each) => !usedBy(name).includes(each)).map((each) => `${name} has no use for ${each}`),
      ...refusalOf(environment, authorityFile).map((refusal) => `${name}: ${refusal}`),
    ];
  });
};

function refusalOf(environment: Record<string, string | undefined>, authorityFile: string): string[] {
  const mounted = Object.entries(environment).map(([name, value]) => [
    name,
    value?.replace(/\/etc\/tollgate\/authorities\/[\w-]+\.pem/, authorityFile),
  ]);
  try {
    readConfig(gatewayConfigSchema, Object.fromEntries(mounted) as Record<string, string>);
    return [];
  } catch (error) {
    return [(error as Error).message];
  }
}

const everyAccountIsTaken: Check = ({ configMaps }) => {
  const files = [...configMaps.values()].flatMap((data) => data['accounts.json'] ?? []);
  if (files.length !== 1) return [`there are ${files.length} accounts files`];
  try {
    parseAccounts(files[0] ?? '', { file: 'accounts.json', readText: () => 'sk_key_1' });
    return [];
  } catch (error) {
    return [(error as Error).message];
  }
};

const answered = (() => {
  const app = Fastify();
  registerHealthRoutes(app, { notReady: () => [], degraded: () => [] });
  return (url: string) => app.hasRoute({ method: 'GET', url });
})();

const everyProbeIsAnswered: Check = ({ deployments }) => {
  const { gatewayPort, callbackPort, metrics } = readConfig(gatewayConfigSchema, {});
  const listening: Readonly<Record<string, number>> = {
    http: gatewayPort,
    callbacks: callbackPort,
    metrics: metrics.port,
  };
  return deployments.flatMap((deployment) => {
    const { name } = deployment.metadata;
    const { ports = [], startupProbe, livenessProbe, readinessProbe } = containerOf(deployment);
    const probes = Object.entries({ startupProbe, livenessProbe, readinessProbe });
    return [
      ...ports
        .filter((port) => listening[port.name] !== port.containerPort)
        .map((port) => `${name} does not listen at ${port.containerPort} (${port.name})`),
      ...probes
        .filter(([, probe]) => probe?.httpGet?.port !== 'http' || !answered(probe.httpGet.path))
        .map(([kind]) => `${name}: no service answers its ${kind}`),
    ];
  });
};

/** A stopped service accepts requests until its peers have noticed, and then has its full drain time. */
const everyStopIsLongEnough: Check = ({ deployments, services }) =>
  deployments.flatMap(({ metadata: { name }, spec }) => {
    const { terminationGracePeriodSeconds: graceS = 30, containers } = spec.template.spec;
    const pauseS = containers[0].lifecycle?.preStop?.sleep?.seconds ?? 0;
    const isReached = services.some((service) => service.metadata.name === name);
    return [
      ...(graceS > pauseS + stopBudgetMs / 1_000 ? [] : [`${name} is killed while it stops`]),
      ...(isReached === pauseS > 0 ? [] : [`${name}: its pause before the stop does not fit its Service`]),
    ];
  });

/** The prerequisites of an installation; docs/operator/kubernetes.md describes them. */
export const broughtAlong = {
  configMaps: ['authorities'],
  secrets: [
    'event-store-user',
    'kafka-user',
    'callback-secrets',
    'webhook-secrets',
    'internal-secrets',
    'team-signing',
    'data-secrets',
    'account-keys',
  ],
};

const everyReferenceLeadsSomewhere: Check = ({ workloads, configMaps, kinds }) => {
  const referred = workloads.flatMap(({ spec }) => {
    const { containers, volumes } = spec.template.spec;
    const variables = containers[0].env.map(({ valueFrom }) => valueFrom);
    const sources = volumes.flatMap(({ projected }) => projected?.sources ?? []);
    return {
      configMaps: [
        ...variables.map((each) => each?.configMapKeyRef?.name),
        ...[...volumes, ...sources].map(({ configMap }) => configMap?.name),
      ],
      secrets: [
        ...variables.map((each) => each?.secretKeyRef?.name),
        ...sources.map(({ secret }) => secret?.name),
      ],
    };
  });
  const namesOf = (kind: keyof typeof broughtAlong) => [
    ...new Set(referred.flatMap((each) => each[kind]).filter((name) => name !== undefined)),
  ];
  const maps = differences(namesOf('configMaps'), [...configMaps.keys(), ...broughtAlong.configMaps]);
  const secrets = differences(namesOf('secrets'), broughtAlong.secrets);
  return [
    ...[...maps.extra, ...secrets.extra].map((name) => `no manifest creates ${name}`),
    ...[...maps.missing, ...secrets.missing].map((name) => `no service reads ${name}`),
    ...(kinds.includes('Secret') ? ['a Secret is among the manifests'] : []),
  ];
};

const hasAll = (labels: Readonly<Record<string, string>>, wanted: Readonly<Record<string, string>> = {}) =>
  Object.entries(wanted).every(([name, value]) => labels[name] === value);

const selects = ({ matchLabels, matchExpressions = [] }: Selector, { spec }: Workload): boolean =>
  hasAll(spec.template.metadata.labels, matchLabels) &&
  matchExpressions.every(
    ({ key, operator, values }) =>
      operator === 'In' && values.includes(spec.template.metadata.labels[key] ?? ''),
  );

/** Connections that the policies allow must equal those that the addresses require. */
const everyWayIsUsed: Check = (manifests) => {
  const { missing, extra } = differences(waysOpen(manifests), waysNeeded(manifests));
  return [
    ...missing.map((way) => `closed, and needed: ${way}`),
    ...extra.map((way) => `open, and not needed: ${way}`),
  ];
};

const wayIn = (label: string, name: string, port: number) => `namespaces with ${label} → ${name}:${port}`;
const wayOut = (name: string, port: number | string, where = 'outside') => `${name} → ${where}:${port}`;

function waysNeeded(manifests: Manifests): readonly string[] {
  const portsIn = (text = '') => [...text.matchAll(/:(\d+)(?=[,/?]|$)/g)].map(([, port]) => port ?? '');
  const among = manifests.workloads.flatMap((workload) => {
    const { name } = workload.metadata;
    const environment = environmentOf(workload, manifests);
    const inside = Object.values(environment).flatMap(
      (value) => /^http:\/\/([\w-]+:\d+)$/.exec(value ?? '')?.[1] ?? [],
    );
    const outside = new Set([
      ...portsIn(environment['EVENTSTORE_URL']),
      ...portsIn(environment['KAFKA_BROKERS']),
      '53',
    ]);
    const callsAnybody = ['PROVIDER_ACCOUNTS_FILE', 'WEBHOOK_SECRETS'].some((each) => each in environment);
    return [
      ...inside.map((address) => `${name} → ${address}`),
      ...[...outside].map((port) => wayOut(name, port)),
      ...(callsAnybody ? [wayOut(name, 443, 'the Internet')] : []),
      wayIn('tollgate/metrics', name, 3002),
    ];
  });
  return [
    ...among,
    wayIn('tollgate/ingress', 'api', 3000),
    wayIn('tollgate/ingress', 'callback-ingester', 3001),
  ];
}

/** Everywhere except internal networks, which a callback URL could otherwise point to. */
const isPublic = ({ to = [] }: Rule): boolean =>
  to.some(({ ipBlock }) => privateNetworks.every((each) => ipBlock?.except?.includes(each)));
const privateNetworks = ['10.0.0.0/8', '100.64.0.0/10', '169.254.0.0/16', '172.16.0.0/12', '192.168.0.0/16'];

function waysOpen({ workloads, policies }: Manifests): readonly string[] {
  const rulesOf = (workload: Workload, direction: 'ingress' | 'egress') =>
    policies
      .filter(({ spec }) => selects(spec.podSelector, workload))
      .flatMap(({ spec }) => spec[direction] ?? []);
  const isClosed = (workload: Workload) =>
    ['Ingress', 'Egress'].every((type) =>
      policies.some(({ spec }) => spec.policyTypes.includes(type) && selects(spec.podSelector, workload)),
    );
  const leadsTo = (peers: readonly Peer[] | undefined, workload: Workload) =>
    peers?.some(({ podSelector }) => podSelector !== undefined && selects(podSelector, workload)) ?? false;
  const portsOf = (rules: readonly Rule[]) =>
    new Set(rules.flatMap(({ ports }) => ports.map(({ port }) => port)));
  const among = workloads.flatMap((from) =>
    workloads.flatMap((to) => {
      const left = portsOf(rulesOf(from, 'egress').filter((rule) => leadsTo(rule.to, to)));
      const entered = portsOf(rulesOf(to, 'ingress').filter((rule) => leadsTo(rule.from, from)));
      return [...left.union(entered)].map((port) => {
        const half = left.has(port) && entered.has(port) ? '' : ' (one side only)';
        return `${from.metadata.name} → ${to.metadata.name}:${port}${half}`;
      });
    }),
  );
  const outwards = workloads.flatMap((from) => {
    const rules = rulesOf(from, 'egress').filter(({ to = [] }) => !to.some((peer) => 'podSelector' in peer));
    return rules.flatMap((rule) =>
      [...portsOf([rule])].map((port) =>
        wayOut(from.metadata.name, port, isPublic(rule) ? 'the Internet' : undefined),
      ),
    );
  });
  const inwards = workloads.flatMap((to) =>
    rulesOf(to, 'ingress').flatMap(({ from = [], ports }) =>
      from.flatMap(({ namespaceSelector }) =>
        Object.keys(namespaceSelector?.matchLabels ?? {}).flatMap((label) =>
          ports.map(({ port }) => wayIn(label, to.metadata.name, port)),
        ),
      ),
    ),
  );
  const unguarded = workloads
    .filter((each) => !isClosed(each))
    .map(({ metadata }) => `any pod ↔ ${metadata.name}`);
  return [...among, ...outwards, ...inwards, ...unguarded];
}

const checks: readonly Check[] = [
  everyServiceRuns,
  everyVariableIsUnderstood,
  everyAccountIsTaken,
  everyProbeIsAnswered,
  everyStopIsLongEnough,
  everyReferenceLeadsSomewhere,
  everyWayIsUsed,
];
