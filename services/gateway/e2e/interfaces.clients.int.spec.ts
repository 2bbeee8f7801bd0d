/** `npm run test:clients`: validates our interface documents with third-party tools. */
import { execFile } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { issueKey, tollgate } from './commands.ts';
import { type System, newDataDir, startSystem, stopEverything } from './system.ts';

const workspace = join(import.meta.dirname, '..', '..', '..');
const files = join(workspace, 'infra', 'clients');
const toolFolder = (name: string) => {
  const folder = process.env[name];
  if (folder === undefined) throw new Error(`${name} is not set; npm run test:clients sets it.`);
  return folder;
};

let system: System;
let key: string;
let recorded: Record<string, string>;
let folder: string;
let openapi: string;

beforeAll(async () => {
  system = await startSystem({ env: { GATEWAY_REQUESTS_PER_SECOND: '100000' } });
  key = await issueKey(system, 'demo', 'payments,cards,stored-cards,refunds,payouts,approvals,read,admin');
  recorded = await record();
  folder = newDataDir();
  openapi = join(folder, 'openapi.json');
  const answer = await fetch(`${system.quickstart.gatewayUrl}/openapi.json`);
  writeFileSync(openapi, await answer.text());
});
afterAll(stopEverything);

interface Run {
  args: readonly string[];
  env?: Record<string, string>;
  input?: string;
}

/** Returns the exit code and the output. */
function run(command: string, { args, env = {}, input }: Run) {
  return new Promise<{ code: number | string; output: string }>((resolve) => {
    const options = { cwd: folder, env: { ...process.env, ...env }, maxBuffer: 64 * 1024 * 1024 };
    const child = execFile(command, args, options, (error, stdout, stderr) =>
      resolve({ code: error === null ? 0 : (error.code ?? 'killed'), output: stdout + stderr }),
    );
    child.stdin?.end(input);
  });
}

const nothingWrong = { code: 0 };

interface Schemathesis {
  config?: string;
  /** The bearer credential. @default the key of a team */
  credential?: string;
  /** Checks that do not apply to these calls. */
  without?: readonly string[];
  env?: Record<string, string>;
}

/** The same requests each time, except for values from answers. */
function schemathesis(
  args: readonly string[],
  { config = 'schemathesis.toml', credential = key, without = [], env = {} }: Schemathesis = {},
) {
  const options = [
    ...['--config-file', join(files, config), 'run', `${system.quickstart.gatewayUrl}/openapi.json`],
    ...['--header', `Authorization: Bearer ${credential}`],
    ...['--checks', 'all', '--continue-on-failure'],
    ...['--exclude-checks', ['positive_data_acceptance', ...without].join()],
    ...['--generation-deterministic', '--suppress-health-check', 'all', '--request-timeout', '60'],
  ];
  return run('python3', {
    args: ['-m', 'schemathesis.cli', ...options, ...args],
    env: {
      PYTHONPATH: [toolFolder('CLIENTS_IN_PYTHON'), files].join(':'),
      NO_COLOR: '1',
      SCHEMATHESIS_HOOKS: 'what_a_schema_cannot_say',
      PYTHONDONTWRITEBYTECODE: '1',
      ...env,
    },
  });
}

it('schemathesis: every call is answered as documented, for any input', async () => {
  const { code, output } = await schemathesis(['--max-examples', '15']);
  expect({ code }, output).toEqual(nothingWrong);
  expect(output).toMatch(/Tested: \d{2}/);
});

it('schemathesis: so are calls about existing payments, refunds, payouts and endpoints', async () => {
  const { code, output } = await schemathesis(
    ['--max-examples', '10', '--include-path-regex', String.raw`^/api/v1/(?!admin/).*\{`],
    { config: 'schemathesis-recorded.toml', env: recorded },
  );
  expect({ code }, output).toEqual(nothingWrong);
  expect(output).toMatch(/Tested: \d{2}/);
});

// A team's key would be refused by all of these routes before any input is checked.
it("schemathesis: so are the operators' calls", async () => {
  const argv = ['operator', 'token', '--role', 'admin'];
  const { token: credential } = await tollgate<{ token: string }>(system, ...argv);
  const { code, output } = await schemathesis(
    // A call to `me/revoke` would revoke the token in use; `sign-ins` takes a link only.
    ['--max-examples', '10', '--include-path-regex', '^/api/v1/admin/(?!me/revoke|sign-ins)'],
    // A reconciliation exists only after it has ended, and 404 for a new team refers to a key.
    {
      config: 'schemathesis-recorded.toml',
      env: recorded,
      credential,
      without: ['ensure_resource_availability'],
    },
  );
  expect({ code }, output).toEqual(nothingWrong);
  expect(output).toMatch(/Tested: \d{2}/);
  expect(output).not.toMatch(/returned only 401\/403/);
});

/** Creates something of each kind. */
async function record(): Promise<Record<string, string>> {
  const call = async (path: string, body: object) => {
    const headers: Record<string, string> = { 'idempotency-key': `clients-${path}` };
    const answer = await system.gatewayAs(key)('POST', `/api/v1/${path}`, { body, headers });
    // Nothing can be paid out yet, but a refused payout is a payout, too.
    expect([200, 201, 409], JSON.stringify(answer.body)).toContain(answer.statusCode);
    return answer;
  };
  const card = { pan: '4392963203551251', expires: '12/2039', holder: 'Ada Lovelace', cvv: '123' };
  const order = { amount: 1250, currency: 'EUR' };
  const payment = await call('payments', { ...order, product: 'Tea', orderNumber: 'clients-1', card });
  const refund = await call('refunds', { token: payment.body.token, amount: 100 });
  const destination = { bankAccount: { account: 'DE02120300000000202051', bankName: 'A bank' } };
  const payout = await call('payouts', { ...order, amount: 100, orderNumber: 'clients-2', destination });
  const endpoint = await call('webhook-endpoints', { url: 'http://127.0.0.1:9/nobody' });
  return {
    PAYMENT_TOKEN: payment.body.token,
    REFUND_TOKEN: refund.body.token,
    PAYOUT_TOKEN: payout.body.token,
    REQUEST_ID: String(payment.headers['request-id']),
    ENDPOINT_ID: endpoint.body.endpoint.id,
  };
}

it('Redocly: the OpenAPI document has no warnings', async () => {
  const binary = join(toolFolder('CLIENTS_IN_NODE'), 'node_modules', '.bin', 'redocly');
  const { code, output } = await run(binary, {
    args: ['lint', openapi, '--max-problems', '1000'],
    env: { REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true', NO_COLOR: '1' },
  });
  expect({ code }, output).toEqual(nothingWrong);
  expect(output).not.toMatch(/\d+ warnings?/);
});

it('openapi-typescript: its types compile, and contain our fields', async () => {
  const binary = join(toolFolder('CLIENTS_IN_NODE'), 'node_modules', '.bin', 'openapi-typescript');
  const made = await run(binary, { args: [openapi, '--output', join(folder, 'gateway.ts')] });
  expect({ code: made.code }, made.output).toEqual(nothingWrong);
  writeFileSync(join(folder, 'client.ts'), typedClient);
  const tsc = join(workspace, 'node_modules', '.bin', 'tsc');
  const compiled = await run(tsc, { args: ['--strict', '--noEmit', '--ignoreConfig', 'client.ts'] });
  expect({ code: compiled.code }, compiled.output).toEqual(nothingWrong);
});

const typedClient = `import type { components, paths } from './gateway.ts';
export const order: components['schemas']['PaymentRequest'] = { product: 'Tea', amount: 1250, currency: 'EUR' };
// @ts-expect-error an amount is a number
export const wrong: components['schemas']['PaymentRequest'] = { ...order, amount: '1250' };
export type Created = paths['/api/v1/payments']['post']['responses'][200]['content']['application/json'];
export const tokenOf = ({ token }: Created): string => token;
`;

it('the AsyncAPI parser: the document of our topics has no warnings', async () => {
  const parser = join(toolFolder('CLIENTS_IN_NODE'), 'node_modules', '@asyncapi', 'parser');
  const { Parser } = createRequire(import.meta.url)(parser) as AsyncApiParser;
  const { document, diagnostics } = await new Parser().parse(
    readFileSync(join(workspace, 'docs', 'asyncapi.json'), 'utf8'),
  );
  expect(document).toBeDefined();
  // Ignores the hint to a later version of AsyncAPI: version 3.0.0 has more readers.
  const warnings = diagnostics.filter(({ severity }) => severity <= 1);
  expect(warnings.map(({ code, message, path }) => [code, path.join('/'), message])).toEqual([]);
});

interface AsyncApiParser {
  Parser: new () => {
    parse(text: string): Promise<{
      document: unknown;
      diagnostics: { severity: number; code: string; message: string; path: string[] }[];
    }>;
  };
}

it('promtool: the metrics have no warnings', async () => {
  const input = await system.metrics();
  expect(input).toContain('tollgate_http_request_duration_seconds_bucket');
  const { code, output } = await run(toolFolder('PROMTOOL'), { args: ['check', 'metrics'], input });
  expect({ code, output }).toEqual({ code: 0, output: '' });
});
