/** The services that a process of the gateway can run, and how its arguments name them. */
import { StartupError } from '@tollgate/service-kit';

/** The purpose of each service, in starting order: none needs a later one. */
const descriptions = {
  'callback-ingester': 'receives callbacks of the Payment Service (CALLBACK_PORT) and stores them on the bus',
  projector: 'folds events into views',
  'event-publisher': 'writes each event to its topic',
  'command-service': 'decides, calls the Payment Service, resolves lost answers; the POST routes',
  'query-service': 'answers from the views; the GET routes',
  notifier: 'sends webhooks to the callbackUrl of teams',
  api: 'the front door: one address for teams, and the documentation',
} as const;

export type ServiceName = keyof typeof descriptions;

export const serviceNames = Object.keys(descriptions) as readonly ServiceName[];

/** Services that the front door forwards to in their own processes. */
export const routedServices = [
  'command-service',
  'query-service',
  'notifier',
] as const satisfies readonly ServiceName[];
export type RoutedService = (typeof routedServices)[number];

/** The work that processes of the command service share: calls of the accounts, within common limits. */
export const providerCalls = 'provider-calls';

/** Services with their own index. */
export const indexedServices: readonly ServiceName[] = ['command-service', 'query-service'];

export const usage = `npx node services/gateway/src/main.ts [service …]

Runs the named services in one process; all of them if none is named. Services:
${Object.entries(descriptions)
  .map(([name, does]) => `  ${name.padEnd(18)} ${does}`)
  .join('\n')}

docs/operator/configuration.md lists the environment variables of each.
`;

/**
 * Reads the services that a process is to run.
 *
 * @returns them in starting order, or `help` if requested
 * @throws StartupError for an unknown name, with the known ones
 */
export function readServiceNames(argv: readonly string[]): readonly ServiceName[] | 'help' {
  if (argv.includes('--help') || argv.includes('-h')) return 'help';
  const unknown = argv.find((name) => !isServiceName(name));
  if (unknown !== undefined)
    throw new StartupError(
      'config_invalid',
      `Unknown service ${JSON.stringify(unknown)}. Name some of ${serviceNames.join(', ')}, or none for all.`,
    );
  return argv.length === 0 ? serviceNames : serviceNames.filter((name) => argv.includes(name));
}

const isServiceName = (text: string): text is ServiceName =>
  (serviceNames as readonly string[]).includes(text);
