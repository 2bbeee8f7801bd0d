/** The operator's command line next to a running system. */
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { readConfig, silentLog, systemClock, systemIds } from '@tollgate/service-kit';
import {
  type Scope,
  type TeamCommand,
  createTeams,
  formatApiKey,
  hashApiKeySecret,
  newApiKey,
} from '@tollgate/teams';
import { programEnvironment } from '@tollgate/testing';
import { openStore } from '../src/composition/open-store.ts';
import { dataDirConfigSchema } from '../src/configuration/config.ts';
import { openDataDirectory } from '../src/configuration/data-directory.ts';
import { openTeamKeys } from '../src/configuration/team-signing.ts';
import type { CallGateway, System } from './system.ts';

export type Beside = Pick<System, 'env'> & Partial<Pick<System, 'workspace'>>;

const fileOf = (path: string) => fileURLToPath(new URL(path, import.meta.url));
/** The command line of the release that the system runs. */
const gatewayCliOf = ({ workspace }: Beside) =>
  workspace === undefined
    ? fileOf('../../cli/src/main.ts')
    : join(workspace, 'services', 'cli', 'src', 'main.ts');

const runCli = (system: Beside, argv: readonly string[]) =>
  promisify(execFile)(process.execPath, [gatewayCliOf(system), ...argv], {
    env: { ...programEnvironment(), ...system.env },
  });

/** Runs one command of the gateway's and returns its output for scripts. */
export async function tollgate<Output = unknown>(system: Beside, ...argv: string[]): Promise<Output> {
  return JSON.parse((await runCli(system, [...argv, '--json'])).stdout) as Output;
}

/** Runs one command that may report faults, and returns its exit code and output. */
export async function tollgateExit(system: Beside, ...argv: string[]) {
  return runCli(system, argv).then(
    ({ stdout, stderr }) => ({ exitCode: 0, stdout, stderr }),
    (error: unknown) => {
      const { code, stdout, stderr } = error as { code: number; stdout: string; stderr: string };
      return { exitCode: code, stdout, stderr };
    },
  );
}

/** Changes a team like the command line, without a separate process. */
async function changeTeam({ env }: Beside, team: string, commands: readonly TeamCommand[]): Promise<void> {
  const { dataDir, eventStore, teamSigning } = readConfig(dataDirConfigSchema, env);
  const directory = openDataDirectory(dataDir);
  const parts = { clock: systemClock, ids: systemIds, log: silentLog };
  const store = await openStore({ eventStore, file: directory.eventsFile, ...parts });
  const teamKeys = openTeamKeys(teamSigning, directory, { mayInstall: eventStore === undefined });
  const actor = { kind: 'person', name: 'e2e', source: 'command-line' } as const;
  try {
    const teams = createTeams({ store, teamKeys, ...parts, actor });
    const refusal = await teams.change(team, (known) =>
      known === undefined ? [{ type: 'AddTeam', name: team }, ...commands] : commands,
    );
    if (refusal !== undefined) throw new Error(`${team} is not changed: ${refusal.code}`);
  } finally {
    await store.close();
  }
}

/** Issues another sandbox key for a team, which is added if it does not exist. */
export async function issueKey(system: Beside, team: string, scopes: string): Promise<string> {
  if (system.workspace !== undefined) {
    await tollgateExit(system, 'team', 'add', team);
    const argv = ['key', 'issue', team, '--environment', 'sandbox', '--scopes', scopes];
    return (await tollgate<{ key: string }>(system, ...argv)).key;
  }
  const key = newApiKey(systemIds, 'sandbox');
  const { keyId, secret } = key;
  const terms = { environment: 'sandbox' as const, scopes: scopes.split(',') as Scope[] };
  await changeTeam(system, team, [
    { type: 'IssueKey', at: systemClock.now(), keyId, ...terms, secretHash: hashApiKeySecret(secret) },
  ]);
  return formatApiKey(key);
}

/** An operator, as the API knows the person. */
export async function operatorOf(system: System, name: string, role = 'operator'): Promise<CallGateway> {
  const argv = ['--as', name, 'operator', 'token', '--role', role];
  return system.gatewayAs((await tollgate<{ token: string }>(system, ...argv)).token);
}
