/** The Payment Service of this project against the specification, by the command that anybody runs against any service. */
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, describe, expect, it } from 'vitest';
import { startSystem, stopEverything, type System } from './system.ts';

const mainFile = fileURLToPath(new URL('../../../libs/conformance/src/main.ts', import.meta.url));
const outputBytesMax = 16 * 1024 * 1024;

/**
 * The tests of operations that the Payment Service does not have yet. The list only shrinks: a test on it that passes
 * fails this spec, until it is taken off.
 */
const notYet = {
  cards: [
    '§1 server-to-server: the merchant creates a payment with card data, and it becomes approved without the page',
    '§1 flow 3: customer authentication runs where the card requires it',
  ],
  recurring: [
    '§1 recurring payments: a later one is charged using the recurring token, without the customer',
    '§1 recurring payments: an unknown recurring token is refused',
  ],
  twoStep: [
    '§4 POST /api/v1/payments/confirm confirms a two-step payment, which becomes approved',
    '§4 POST /api/v1/payments/confirm fails for a token that does not exist',
    '§4 POST /api/v1/payments/confirm is refused where no money is held',
    '§4 POST /api/v1/payments/confirm needs the token',
    '§4 POST /api/v1/payments/decline declines a two-step payment, which becomes declined',
    '§4 POST /api/v1/payments/decline fails for a token that does not exist',
    '§4 POST /api/v1/payments/decline is refused where no money is held',
    '§4 POST /api/v1/payments/decline needs the token',
    '§5 every request carries the key: POST /api/v1/payments/confirm is rejected without one, and with a wrong one',
    '§5 every request carries the key: POST /api/v1/payments/decline is rejected without one, and with a wrong one',
    '§6 the outcome of a two-step payment is posted',
  ],
  refunds: [
    '§2 each refund is identified by a token: a string',
    '§3 refunded: the payment was refunded',
    '§3 refunded is final: it stays, whatever the customer does',
    '§4 POST /api/v1/refunds refunds a payment in full when no amount is passed',
    '§4 POST /api/v1/refunds refunds partially when an amount is passed',
    '§4 POST /api/v1/refunds: the amount is an integer, anything else is refused',
    '§4 POST /api/v1/refunds fails for a payment that does not exist',
    '§4 POST /api/v1/refunds needs the token',
    '§4 POST /api/v1/refunds: partial refunds add up, and the last one makes the payment refunded',
    '§4 POST /api/v1/refunds never refunds more than was approved',
    '§5 every request carries the key: POST /api/v1/refunds is rejected without one, and with a wrong one',
    '§6 the status change to refunded is posted',
    '§6 a full refund sends a callback of its own, of type refund',
    '§7 an operation that could not be processed gives kind processing_error',
  ],
  payouts: [
    '§2 each payout is identified by a token: a string',
    '§4 POST /api/v1/payouts starts a payout',
    '§4 POST /api/v1/payouts: the amount is an integer, anything else is refused',
    '§4 POST /api/v1/payouts answers amount, currency, orderNumber and status',
    '§4 a payout is retrieved by its token, and listed where operationType is payouts',
    '§4 POST /api/v1/payouts is refused where the balance is too small',
    '§5 every request carries the key: POST /api/v1/payouts is rejected without one, and with a wrong one',
  ],
  balance: [
    '§4 GET /api/v1/balance reads the available and the held amount for a currency, both integers',
    '§4 GET /api/v1/balance is kept for each currency by itself',
    '§4 GET /api/v1/balance answers wallet {currency, available, hold}',
    '§4 GET /api/v1/balance refuses a currency that is none',
    '§5 every request carries the key: GET /api/v1/balance is rejected without one, and with a wrong one',
  ],
  disputes: [
    '§4 GET /api/v1/disputes/list reads a list of dispute records',
    '§4 GET /api/v1/disputes/list holds the most recent records of the account',
    '§4 GET /api/v1/disputes/list: the newest comes first, with its fields',
    '§5 every request carries the key: GET /api/v1/disputes/list is rejected without one, and with a wrong one',
  ],
};

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
  it('conforms to the specification, but for what it does not have yet', { timeout: 180_000 }, async () => {
    const { argv, env } = paymentServiceOf(await startSystem());
    const { results } = JSON.parse(await conformance(argv, env)) as Report;
    const awaited = new Set(Object.values(notYet).flat());
    const amiss = results.filter(({ name, outcome }) => outcome !== 'passed' && !awaited.has(name));
    expect(amiss, 'violations of the specification').toEqual([]);
    const passed = results.filter(({ name, outcome }) => outcome === 'passed' && awaited.has(name));
    expect(passed, 'take these off the list').toEqual([]);
    const names = new Set(results.map(({ name }) => name));
    expect(
      [...awaited].filter((name) => !names.has(name)),
      'there are no such tests',
    ).toEqual([]);
  });
});
