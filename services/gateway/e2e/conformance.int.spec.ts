/** The Payment Service of this project against the specification, by the command that anybody runs against any service. */
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, describe, expect, it } from 'vitest';
import { startSystem, stopEverything, type System } from './system.ts';

const mainFile = fileURLToPath(new URL('../../../libs/conformance/src/main.ts', import.meta.url));
const outputBytesMax = 16 * 1024 * 1024;

/** The suite is written to have more tests than this; fewer means that it has not really run. */
const testsMin = 150;

interface Report {
  results: { name: string; outcome: 'passed' | 'failed' | 'not run'; reason?: string }[];
}

/** Runs the command as a process of its own, as a person does. */
async function conformance(argv: readonly string[], env: Record<string, string>): Promise<string> {
  const options = { env: { ...env, PATH: process.env['PATH'] ?? '' }, maxBuffer: outputBytesMax };
  try {
    return (await promisify(execFile)(process.execPath, [mainFile, ...argv], options)).stdout;
  } catch (error) {
    const { code, stdout, stderr } = error as { code?: number; stdout: string; stderr: string };
    if (code === 1) return stdout;
    throw new Error(`The conformance suite could not run: ${stderr}`, { cause: error });
  }
}

afterAll(stopEverything);

const paymentServiceOf = ({ quickstart }: System): { argv: string[]; env: Record<string, string> } => ({
  argv: [
    ...['--base-url', quickstart.paymentServiceUrl, '--http-url', quickstart.paymentServiceHttpUrl],
    ...['--ca', quickstart.caFile, '--sandbox', '--move-clock', '--json'],
    ...['--other-key', `sk_production_${'0123456789abcdef'.repeat(3)}`],
  ],
  env: { CONFORMANCE_KEY: quickstart.paymentServiceKey },
});

describe('the Payment Service', () => {
  it('conforms to the specification, in every test of the suite', { timeout: 180_000 }, async () => {
    const { argv, env } = paymentServiceOf(await startSystem());
    const { results } = JSON.parse(await conformance(argv, env)) as Report;
    expect(results.length).toBeGreaterThan(testsMin);
    expect(results.filter(({ outcome }) => outcome !== 'passed')).toEqual([]);
  });
});
