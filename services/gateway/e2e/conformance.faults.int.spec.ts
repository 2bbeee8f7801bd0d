/** The gateway against the specification, by the public conformance command. */
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { programEnvironment } from '@tollgate/testing';
import { afterAll, describe, expect, it } from 'vitest';
import { tollgate } from './commands.ts';
import { freePorts } from './free-ports.ts';
import { newDataDir, startSystem, stopEverything } from './system.ts';

const mainFile = fileURLToPath(new URL('../../../libs/conformance/src/main.ts', import.meta.url));
const outputBytesMax = 16 * 1024 * 1024;

/** Minimum number of tests in the suite; fewer means that it has not really run. */
const testsMin = 140;

interface Report {
  results: { name: string; outcome: 'passed' | 'failed' | 'not run'; reason?: string }[];
}

/** Runs the command as its own process, as an operator does. */
async function conformance(argv: readonly string[], env: Record<string, string>): Promise<string> {
  const options = { env: { ...env, ...programEnvironment() }, maxBuffer: outputBytesMax };
  try {
    return (await promisify(execFile)(process.execPath, [mainFile, ...argv], options)).stdout;
  } catch (error) {
    const { code, stdout, stderr } = error as { code?: number; stdout: string; stderr: string };
    if (code === 1) return stdout;
    throw new Error(`The conformance suite could not run: ${stderr}`, { cause: error });
  }
}

afterAll(stopEverything);

/**
 * Intentional deviations of the gateway beyond the specification: it notifies a team itself, so it chooses the address.
 * It limits a payout by the team's balance before the balance at the service. Its lists are paged by cursor.
 */
const onPurpose = [
  '§2 callbackUrl is required',
  'POST /api/v1/payouts is refused where the balance is too small',
  'GET /api/v1/payments: page and perPage choose a part',
];
/** The gateway never answers an error for a call that may have had an effect; the sandbox's faults are not its own. */
const notRun = '§7 a problem on the service';

describe('the gateway', () => {
  it('conforms to the specification, in front of the Payment Service', { timeout: 400_000 }, async () => {
    const dataDir = newDataDir();
    const { GATEWAY_PORT = '', ...ports } = await freePorts();
    const plainPort = (await freePorts())['GATEWAY_PORT'] ?? '';
    const tls = (name: string) => join(dataDir, 'payment-service-tls', name);
    const system = await startSystem({
      dataDir,
      env: {
        ...ports,
        GATEWAY_PORT,
        GATEWAY_PLAIN_HTTP_PORT: plainPort,
        // The sandbox creates a certificate for this machine before the API starts to listen.
        GATEWAY_TLS_CERT_FILE: tls('server.pem'),
        GATEWAY_TLS_KEY_FILE: tls('server-key.pem'),
      },
    });
    const { quickstart } = system;
    expect(quickstart.gatewayUrl).toMatch(/^https:/);
    const argv = [
      ...['--base-url', quickstart.gatewayUrl, '--http-url', `http://127.0.0.1:${plainPort}`],
      ...['--ca', quickstart.caFile, '--sandbox', '--move-clock', '--json', '--idempotency-keys'],
      ...['--sandbox-url', quickstart.paymentServiceUrl],
      ...onPurpose.flatMap((name) => ['--skip', name]),
      ...['--other-key', quickstart.apiKey.replace('_sandbox_', '_production_')],
    ];
    const { key } = await tollgate<{ key: string }>(
      system,
      ...['key', 'issue', 'demo', '--environment', 'sandbox'],
      ...['--scopes', 'payments,refunds,payouts,read,cards,stored-cards'],
    );
    const env = { CONFORMANCE_KEY: key, CONFORMANCE_SANDBOX_KEY: quickstart.paymentServiceKey };
    const { results } = JSON.parse(await conformance(argv, env)) as Report;
    expect(results.length).toBeGreaterThan(testsMin);
    const others = results.filter(({ outcome }) => outcome !== 'passed');
    expect(others.filter(({ name }) => !name.startsWith(notRun))).toEqual([]);
    expect(others.map(({ outcome }) => outcome)).toEqual(['not run']);
  });
});
