import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startPaymentService } from '@tollgate/payment-service';
import { silentLog, systemClock, systemIds } from '@tollgate/service-kit';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { z } from 'zod';
import { type JsonCall, createJsonCalls } from '../json-calls.ts';
import { ledgerAnswer, runSandboxCommand } from './sandbox-commands.ts';

const dataDir = mkdtempSync(join(tmpdir(), 'tollgate-sandbox-commands-'));
const config = { dataDir, host: '127.0.0.1', httpsPort: 0, httpPort: 0 };
const service = await startPaymentService({ config, clock: systemClock, ids: systemIds, log: silentLog });
let calls: ReturnType<typeof createJsonCalls>;

beforeAll(async () => {
  const { httpsUrl, caFile } = service.addresses;
  const { key } = await service.ensureMerchant({ name: 'demo' });
  calls = createJsonCalls({
    name: 'sandbox',
    url: httpsUrl,
    key: key.reveal(),
    ca: readFileSync(caFile, 'utf8'),
  });
});
afterAll(async () => {
  await calls.close();
  await service.stop();
  rmSync(dataDir, { recursive: true });
});

/** Resolves with the exit code and the output. */
async function sandbox(commandLine: string): Promise<[number, string]> {
  let printed = '';
  const print = (text: string) => void (printed += text);
  const tools = {
    ...calls,
    gateway: () => ({ call: callGateway, close: async () => undefined }),
    newOrderNumber: () => `fund-${systemIds.hex(6)}`,
    payOnPage: async () => expect.unreachable(),
    consoleUrl: '',
  };
  const deps = { open: () => ({ tools, close: () => undefined }), print, complain: print };
  const exitCode = await runSandboxCommand(commandLine.split(' '), deps);
  return [exitCode, printed.trimEnd()];
}

/** Replaces a gateway: creates payments at the sandbox under its own token, and adopts the sandbox's status. */
const callGateway: JsonCall = async (schema, method, path, body) => {
  if (method === 'POST') {
    const { orderNumber: token } = body as { orderNumber: string };
    const terms = {
      ...Object(body),
      orderNumber: `${token}.1`,
      callbackUrl: 'http://127.0.0.1:9/',
    } as object;
    await calls.call(z.looseObject({}), 'POST', path, terms);
    return schema.parse({ token });
  }
  const token = path.replace('/api/v1/payments/', '');
  if (token === path) return calls.call(schema, method, path);
  const { payments } = await calls.call(ledgerAnswer, 'GET', `/sandbox/ledger?orderNumber=${token}.1`);
  return schema.parse({ payment: payments[0] });
};

/** Like the gateway: its own token and the attempt number. */
async function createPayment(orderNumber: string): Promise<void> {
  const terms = { product: 'Tea', amount: 1250, currency: 'EUR', orderNumber };
  const body = { ...terms, callbackUrl: 'http://127.0.0.1:9/' };
  await calls.call(z.looseObject({}), 'POST', '/api/v1/payments', body);
}

it('controls customer, operator and time', async () => {
  expect(await sandbox('pay')).toEqual([
    1,
    'The sandbox has no payment yet: create one with the gateway first.',
  ]);
  await createPayment('pay_a.1');
  await createPayment('pay_b.1');
  expect(await sandbox('decline pay_a')).toEqual([0, expect.stringMatching(/^\w+ declined 1250 EUR$/)]);
  expect(await sandbox('pay')).toEqual([0, expect.stringMatching(/^\w+ approved 1250 EUR$/)]);
  expect(await sandbox('pay pay_b')).toEqual([1, 'The payment is already approved.']);
  expect(await sandbox('refund pay_b --amount 50')).toEqual([0, expect.stringMatching(/ approved 50 EUR$/)]);
  expect(await sandbox('revise approved pay_a')).toEqual([0, expect.stringMatching(/ approved 1250 EUR$/)]);
  expect(await sandbox('clock +2d')).toEqual([0, expect.stringMatching(/^It is \S+Z in the sandbox\.$/)]);
  const [, ledger] = await sandbox('ledger');
  expect(ledger).toMatch(/^payment {2}\w+ {2}approved {2}1250 EUR {2}refunded 50 {2}pay_b\.1$/m);
  // Approved money can be paid out after one day.
  expect(ledger).toMatch(/^wallet .*EUR.*available 2450/m);
  expect(await sandbox('pay pay_c')).toEqual([
    1,
    'The sandbox has no payment pay_c: ledger lists those that it has.',
  ]);
});

it('gives the demo team money for payouts, without advancing time or changing other payments', async () => {
  await createPayment('pay_open.1');
  const time = async () => Date.parse((await sandbox('clock 0s'))[1].split(' ')[2] ?? '');
  const before = await time();
  const [exitCode, printed] = await sandbox('fund 1000 CHF');
  expect([exitCode, printed]).toEqual([
    0,
    expect.stringMatching(
      /^The demo team took 10\.00 CHF by fund-\w+, and can pay out 10\.00 CHF now \(1000 /,
    ),
  ]);
  expect((await sandbox('fund 500 CHF'))[1]).toContain('can pay out 15.00 CHF now (1500 ');
  expect((await time()) - before).toBeLessThan(60_000);
  const [, ledger] = await sandbox('ledger');
  expect(ledger).toMatch(/ init {2}1250 EUR .*pay_open\.1$/m);
  expect((await sandbox('fund'))[1]).toContain('took 1000.00 EUR');
});

it('sets, lists and clears faults, and names the available ones', async () => {
  expect(await sandbox('faults set callback drop --times 2')).toEqual([0, 'callback drop times=2']);
  expect(await sandbox('faults set get slow_reply --delay 2s')).toEqual([0, expect.any(String)]);
  const listed = 'callback drop times=2\nget slow_reply delayMs=2000';
  expect(await sandbox('faults list')).toEqual([0, listed]);
  expect(await sandbox('--json faults list')).toEqual([0, expect.stringMatching(/^\{"faults":\[/)]);
  expect(await sandbox('faults set callback lost_reply')).toEqual([
    1,
    '0.fault must be one of drop, duplicate, delay.',
  ]);
  expect(await sandbox('faults set creation drop')).toEqual([
    2,
    expect.stringContaining('must be one of create, get, list, confirm'),
  ]);
  expect(await sandbox('faults clear')).toEqual([0, 'No fault is set.']);
  expect(await sandbox('faults list')).toEqual([0, 'No fault is set.']);
});

it.each([
  ['clock 8x', /'8x' is invalid for argument 'duration': must be .* such as \+8d; see --help\.$/],
  ['refund --amount 0', /whole number from 1/],
  ['fund 1.50', /whole number from 1/],
  ['fund 100 euro', /'currency': must be an ISO 4217 alphabetic code/],
  ['revise refunded', /must be one of approved, declined/],
])('refuses %s in a sentence', async (commandLine, sentence) => {
  expect(await sandbox(commandLine)).toEqual([2, expect.stringMatching(sentence)]);
});
