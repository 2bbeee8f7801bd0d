/** Reports variables that configure nothing, for example because of a typing error. */
import { keyVariablesOf } from './account-config.ts';
import { gatewayConfigSchema } from './config.ts';
import { fieldsOf } from './reference/fields.ts';
import type { ServiceName } from './service-names.ts';

/** Prefixes that only our variables have. */
const ours = /^(CALLBACK|GATEWAY|OIDC|PROVIDER|REVIEWS|TOLLGATE|WEBHOOK)_/;

/** Of the command line, of the documents' examples, and of compose.yaml. */
const ofOthers = [
  ...['TOLLGATE_AS', 'TOLLGATE_URL', 'TOLLGATE_KEY', 'TOLLGATE_WEBHOOK_SECRET', 'TOLLGATE_VERSION'],
  ...['TOLLGATE_COMPOSE', 'TOLLGATE_ARRANGEMENT', 'GATEWAY_PORTS', 'CALLBACK_PORTS'],
];

/** Kubernetes sets these for each service next to a container. */
const ofKubernetes = /_(SERVICE_HOST|SERVICE_PORT(_\w+)?|PORT_\d+_(TCP|UDP)(_\w+)?)$/;

/** Maximum edit distance of a similar name. */
const distanceMax = 2;

export interface UnknownVariable {
  name: string;
  nearest?: string;
}

type Environment = Readonly<Record<string, string | undefined>>;

const urlsOfServices = {
  COMMAND_SERVICE_URL: 'command-service',
  QUERY_SERVICE_URL: 'query-service',
  NOTIFIER_URL: 'notifier',
} as const;

/** Warnings at the start of a process that runs these services: one sentence each. */
export function unheededVariables(env: Environment, services: readonly ServiceName[]): string[] {
  const given = Object.keys(env).filter((name) => (env[name] ?? '') !== '');
  const has = (name: string) => given.includes(name);
  const keys = env['PROVIDER_ACCOUNTS_FILE'] ? keyVariablesOf(env['PROVIDER_ACCOUNTS_FILE']) : [];
  const ofSigningIn = has('OIDC_ISSUER') ? [] : given.filter((name) => name.startsWith('OIDC_'));
  return [
    ...unknownVariables(given, keys).map(({ name, nearest }) =>
      nearest === undefined
        ? `${name} is not a known variable; see docs/operator/configuration.md`
        : `${name} is not a known variable; did you mean ${nearest}?`,
    ),
    ...ofSigningIn.map((name) => `${name} has no effect without OIDC_ISSUER`),
    ...Object.entries(urlsOfServices)
      .filter(([name, service]) => has(name) && services.includes(service))
      .map(([name, service]) => `${name} has no effect: the ${service} runs in this process`),
    ...(has('PROVIDER_ACCOUNTS_FILE') && !has('CALLBACK_PUBLIC_URL') && services.includes('command-service')
      ? [
          'CALLBACK_PUBLIC_URL is not set: the Payment Service receives the local address of the callback port',
        ]
      : []),
  ];
}

/** @param known variables that are known besides those of the configuration */
export function unknownVariables(names: Iterable<string>, known: readonly string[] = []): UnknownVariable[] {
  const configured = fieldsOf(gatewayConfigSchema).map(({ name }) => name);
  const all = new Set([...configured, ...ofOthers, ...known]);
  return [...names]
    .filter((name) => !all.has(name) && !ofKubernetes.test(name))
    .flatMap((name) => {
      const nearest = nearestOf(name, configured);
      if (nearest !== undefined) return [{ name, nearest }];
      return ours.test(name) ? [{ name }] : [];
    });
}

function nearestOf(name: string, candidates: readonly string[]): string | undefined {
  const near = candidates
    .filter((candidate) => Math.abs(candidate.length - name.length) <= distanceMax)
    .map((candidate) => ({ candidate, distance: distanceOf(name, candidate) }))
    .filter(({ distance }) => distance <= distanceMax);
  return near.toSorted((one, other) => one.distance - other.distance)[0]?.candidate;
}

/** Letters to change, leave out or put in (Levenshtein). */
function distanceOf(one: string, other: string): number {
  let row = Array.from({ length: other.length + 1 }, (_, at) => at);
  for (const [at, letter] of one.split('').entries()) {
    const next = [at + 1];
    for (const [place, each] of other.split('').entries()) {
      const changed = (row[place] ?? 0) + (letter === each ? 0 : 1);
      next.push(Math.min(changed, (row[place + 1] ?? 0) + 1, (next[place] ?? 0) + 1));
    }
    row = next;
  }
  return row.at(-1) ?? 0;
}
