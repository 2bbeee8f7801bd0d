import { StartupError } from '@tollgate/service-kit';

export interface LauncherArguments {
  /** Processes of each service. */
  instances: number;
}

const instancesMax = 8;

export const launcherUsage = `npm run services -- [--instances <n>]

Starts every service as a process of its own, at the ports of npm start, and the sandbox of the Payment Service where
PROVIDER_ACCOUNTS_FILE is not set. A process that dies is restarted; Ctrl-C stops all.

  --instances <n>  processes of each service, 1 to ${instancesMax}; 1 unless given
`;

/** @throws StartupError that names the argument at fault */
export function readLauncherArguments(argv: readonly string[]): LauncherArguments | 'help' {
  if (argv.includes('--help') || argv.includes('-h')) return 'help';
  const [name, value, ...rest] = argv.flatMap((argument) => argument.split('='));
  if (name === undefined) return { instances: 1 };
  if (name !== '--instances' || rest.length > 0)
    throw wrong(`Unknown argument ${JSON.stringify(rest[0] ?? name)}; see --help.`);
  const instances = Number(value);
  if (!/^\d+$/.test(value ?? '') || instances < 1 || instances > instancesMax)
    throw wrong(`--instances must be a whole number from 1 to ${instancesMax}.`);
  return { instances };
}

const wrong = (sentence: string) => new StartupError('config_invalid', sentence);
