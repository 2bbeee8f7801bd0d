/** The services that a process of the gateway can run, and how its arguments name them. */
import { StartupError } from '@tollgate/service-kit';

/** What each service does, in the order in which one process starts them: none needs one of those after it. */
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

/** Those that the front door forwards to where they run in their own processes. */
export const routedServices = [
  'command-service',
  'query-service',
  'notifier',
] as const satisfies readonly ServiceName[];
export type RoutedService = (typeof routedServices)[number];

/** The work that processes of the command service share: calls of the accounts, within common limits. */
export const providerCalls = 'provider-calls';

/** Those that keep an index of their own. */
export const indexedServices: readonly ServiceName[] = ['command-service', 'query-service'];

export const usage = `npx node services/gateway/src/main.ts [service …]

Runs the named services in one process; all of them if none is named. Services:
${Object.entries(descriptions)
  .map(([name, does]) => `  ${name.padEnd(18)} ${does}`)
  .join('\n')}

npm run services starts each in its own process; docs/operator/configuration.md lists the environment variables.
`;

/**
 * Reads which services a process is to run.
 *
 * @returns them in the order of their start, or `help` if that was asked for
 * @throws StartupError for a name that is none, with those that are
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
