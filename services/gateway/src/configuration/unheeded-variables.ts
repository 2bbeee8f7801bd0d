/** Reports variables that configure nothing, for example because of a typing error. */
import { didYouMean } from '@tollgate/service-kit';
import { variableNames } from './config-fields.ts';
import { gatewayConfigSchema } from './config.ts';
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
  const ofSigningIn = has('OIDC_ISSUER') ? [] : given.filter((name) => name.startsWith('OIDC_'));
  return [
    ...unknownVariables(given),
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

export function unknownVariables(names: Iterable<string>): string[] {
  const configured = variableNames(gatewayConfigSchema);
  const all = new Set([...configured, ...ofOthers]);
  return [...names]
    .filter((name) => !all.has(name) && !ofKubernetes.test(name))
    .flatMap((name) => {
      const hint = didYouMean(name, configured);
      if (hint === '' && !ours.test(name)) return [];
      return `${name} is not a known variable.${hint || ' See docs/operator/configuration.md.'}`;
    });
}
