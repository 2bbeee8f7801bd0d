/** What an operator does on the command line, beside a system that runs. */
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { programEnvironment } from '@tollgate/testing';
import type { System } from './system.ts';

export type Beside = Pick<System, 'env'> & Partial<Pick<System, 'workspace'>>;

const fileOf = (path: string) => fileURLToPath(new URL(path, import.meta.url));
/** The command line of the release that the system runs. */
const gatewayCliOf = ({ workspace }: Beside) =>
  workspace === undefined
    ? fileOf('../../cli/src/main.ts')
    : join(workspace, 'services', 'cli', 'src', 'main.ts');
const paymentServiceCli = fileOf('../../payment-service/src/operator/main.ts');

async function run(file: string, argv: readonly string[], env: Record<string, string>): Promise<string> {
  const all = { ...programEnvironment(), ...env };
  return (await promisify(execFile)(process.execPath, [file, ...argv], { env: all })).stdout;
}

/** Runs one command of the gateway's and returns its output for scripts. */
export async function tollgate<Output = unknown>(system: Beside, ...argv: string[]): Promise<Output> {
  return JSON.parse(await run(gatewayCliOf(system), [...argv, '--json'], system.env)) as Output;
}

/** Runs one command that may find something wrong, and gives its exit code and output. */
export async function tollgateExit(system: Beside, ...argv: string[]) {
  const all = { ...programEnvironment(), ...system.env };
  return promisify(execFile)(process.execPath, [gatewayCliOf(system), ...argv], { env: all }).then(
    ({ stdout, stderr }) => ({ exitCode: 0, stdout, stderr }),
    (error: unknown) => {
      const { code, stdout, stderr } = error as { code: number; stdout: string; stderr: string };
      return { exitCode: code, stdout, stderr };
    },
  );
}

/** A further key of a team, good for the sandbox environment. */
export async function issueKey(system: Beside, team: string, scopes: string): Promise<string> {
  const argv = ['key', 'issue', team, '--environment', 'sandbox', '--scopes', scopes];
  return (await tollgate<{ key: string }>(system, ...argv)).key;
}

/** Registers a further merchant with the system's sandbox and gives its key. */
export async function registerMerchant({ dataDir }: System, name: string): Promise<string> {
  const printed = await run(paymentServiceCli, ['register', name], { TOLLGATE_DATA_DIR: dataDir });
  const key = /sk_sandbox_[0-9a-f]+/.exec(printed)?.[0];
  if (key === undefined) throw new Error(`no key was printed: ${printed}`);
  return key;
}
