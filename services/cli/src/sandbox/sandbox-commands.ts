/** `npm run sandbox -- <command>`: the commands of the sandbox. */
import { formatAmount, isCurrency } from '@tollgate/core/money';
import { faultNames, faultOperations } from '@tollgate/payment-service/settings';
import { TollgateError, dayMs, hourMs, minuteMs } from '@tollgate/service-kit';
import {
  type Command,
  type CommandLineDeps,
  type CommandResult,
  InvalidParameter,
  argument,
  choice,
  commandsOf,
  done,
  option,
  optionalArgument,
  runProgram,
  text,
  wholeNumber,
} from '@tollgate/service-kit/command-line';
import { z } from 'zod';
import { type JsonCall, askUntil, untilApproved } from '../json-calls.ts';

export interface SandboxTools {
  call: JsonCall;
  /** @throws StartupError if the demo team has no key */
  gateway(): { call: JsonCall; close(): Promise<void> };
  /** Fills in the hosted page of a payment at this URL, as its customer does. */
  payOnPage(processingUrl: string): Promise<void>;
  consoleUrl: string;
  /** Unique per call. */
  newOrderNumber(): string;
}

const faultsAnswer = z.object({
  faults: z.array(z.looseObject({ operation: z.string(), fault: z.string() })),
});
const clockAnswer = z.object({ now: z.string() });
const subject = { token: z.string(), status: z.string(), amount: z.int() };
const refundAnswer = z.looseObject({ refund: z.looseObject({ ...subject, currency: z.string() }) });
const paymentAnswer = z.looseObject({ payment: z.looseObject({ ...subject, currency: z.string() }) });
export const ledgerAnswer = z.looseObject({
  payments: z.array(
    z.looseObject({
      ...subject,
      currency: z.string(),
      orderNumber: z.string().nullable(),
      refundedAmount: z.int(),
    }),
  ),
  refunds: z.array(z.looseObject(subject)),
  payouts: z.array(z.looseObject(subject)),
  wallets: z.array(z.looseObject({ currency: z.string() })),
});

const unitsMs: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: minuteMs, h: hourMs, d: dayMs };

function duration(given: string): number {
  const [, count, unit = ''] = /^\+?(\d{1,9})(ms|s|m|h|d)$/.exec(given) ?? [];
  const unitMs = unitsMs[unit];
  if (unitMs === undefined)
    throw new InvalidParameter('must be a number and a unit, ms, s, m, h or d, such as +8d');
  return Number(count) * unitMs;
}

function currencyCode(given: string): string {
  if (isCurrency(given)) return given;
  throw new InvalidParameter('must be an ISO 4217 alphabetic code in capitals');
}

const count = wholeNumber(1, 999_999_999_999);
const payment = optionalArgument(
  'payment',
  'a token of the gateway or the sandbox; default: the newest',
  text,
);
const command = commandsOf<SandboxTools>();

const showFaults = (answer: z.infer<typeof faultsAnswer>) => {
  const lines = answer.faults.map(({ operation, fault, ...limits }) =>
    [operation, fault, ...Object.entries(limits).map((each) => each.join('='))].join(' '),
  );
  return done(lines.join('\n') || 'No fault is set.', answer);
};

const change =
  <Values extends { payment: string | undefined }>(path: string, bodyOf: (values: Values) => object) =>
  async (tools: SandboxTools, values: Values): Promise<CommandResult> => {
    const token = await serviceTokenOf(tools, values.payment);
    const answer = await tools.call(
      paymentAnswer,
      'POST',
      `/sandbox/payments/${token}/${path}`,
      bodyOf(values),
    );
    const { status, amount, currency } = answer.payment;
    return done(`${token} ${status} ${amount} ${currency}`, answer);
  };

const commands: readonly Command<SandboxTools>[] = [
  command('faults list', 'list the faults', {}, async ({ call }) =>
    showFaults(await call(faultsAnswer, 'GET', '/sandbox/faults')),
  ),
  command(
    'faults set',
    `add a fault\n  of callback: ${faultNames('callback').join(', ')}\n  of other operations: ${faultNames('create').join(', ')}`,
    {
      operation: argument('operation', faultOperations.join(', '), choice(faultOperations)),
      fault: argument('fault', 'one of the faults above', text),
      times: option('count', 'number of calls that it strikes', count),
      every: option('count', 'strike only each n-th call', count),
      delay: option('duration', 'of slow_reply and delay, such as 500ms, 5s', duration),
    },
    async ({ call }, { delay, ...fault }) =>
      showFaults(await call(faultsAnswer, 'POST', '/sandbox/faults', [{ ...fault, delayMs: delay }])),
  ),
  command('faults clear', 'remove all faults', {}, async ({ call }) =>
    showFaults(await call(faultsAnswer, 'DELETE', '/sandbox/faults')),
  ),
  command(
    'pay',
    'pay as the customer',
    { payment, card: option('number', 'with this test card instead of an approved one', text) },
    change('pay', ({ card }: { payment: string | undefined; card: string | undefined }) =>
      card === undefined ? { outcome: 'approved' } : { pan: card },
    ),
  ),
  command(
    'decline',
    'pay as a customer whose card is declined',
    { payment },
    change('pay', () => ({ outcome: 'declined' })),
  ),
  command(
    'revise',
    'change a final status, as the service sometimes does',
    {
      status: argument('status', 'the new status', choice(['approved', 'declined'])),
      payment,
      amount: option('amount', 'and the amount, in minor units', count),
    },
    change('revise', ({ payment: _, ...revision }) => revision),
  ),
  command(
    'refund',
    "refund in the provider's own console, without the gateway",
    { payment, amount: option('amount', 'only so much, in minor units', count) },
    async (tools, { payment: token, amount }) => {
      const body = { token: await serviceTokenOf(tools, token), amount };
      const answer = await tools.call(refundAnswer, 'POST', '/api/v1/refunds', body);
      const { refund } = answer;
      return done(`${refund.token} ${refund.status} ${refund.amount} ${refund.currency}`, answer);
    },
  ),
  command(
    'clock',
    'advance the time of the sandbox, such as +8d, +90m; 0s shows it',
    { duration: argument('duration', 'how far', duration) },
    async ({ call }, { duration: advanceMs }) => {
      const answer = await call(clockAnswer, 'POST', '/sandbox/clock', { advanceMs });
      return done(`It is ${answer.now} in the sandbox.`, answer);
    },
  ),
  command(
    'ledger',
    'show what happened to the money; --json adds callbacks and calls',
    {},
    async ({ call }) => {
      const answer = await call(ledgerAnswer, 'GET', '/sandbox/ledger');
      return done(toLedgerLines(answer), answer);
    },
  ),
  command(
    'fund',
    'give the demo team money to pay out: makes, pays and settles a payment',
    {
      amount: optionalArgument('amount', 'in minor units (default: 100000)', count),
      currency: optionalArgument('currency', 'ISO 4217 alphabetic code (default: EUR)', currencyCode),
    },
    fund,
  ),
  command('demo', 'take a payment of the demo team on the hosted page, and show its history', {}, demo),
];

/** Runs one command and returns the exit code of the process. */
export function runSandboxCommand(
  argv: readonly string[],
  deps: CommandLineDeps<SandboxTools>,
): Promise<number> {
  const summary = 'Controls the sandbox of the running gateway: customer, provider, faults and time.';
  return runProgram(argv, { call: 'npm run sandbox --', summary, commands }, deps);
}

/** The service's order number consists of the gateway's token and the attempt number. */
async function serviceTokenOf({ call }: SandboxTools, wanted: string | undefined): Promise<string> {
  const { payments } = await call(ledgerAnswer, 'GET', '/sandbox/ledger');
  const found = payments.findLast(
    ({ token, orderNumber }) =>
      wanted === undefined || token === wanted || orderNumber?.startsWith(`${wanted}.`) === true,
  );
  if (found !== undefined) return found.token;
  throw new TollgateError(
    'payment_not_found',
    wanted === undefined
      ? 'The sandbox has no payment yet: create one with the gateway first.'
      : `The sandbox has no payment ${wanted}: ledger lists those that it has.`,
  );
}

function toLedgerLines({ payments, refunds, payouts, wallets }: z.infer<typeof ledgerAnswer>): string {
  const rows = [
    ...payments.map(({ token, status, amount, currency, refundedAmount, orderNumber }) => {
      const sums = [`${amount} ${currency}`, `refunded ${refundedAmount}`];
      return ['payment', token, status, ...sums, orderNumber];
    }),
    ...refunds.map(({ token, status, amount }) => ['refund ', token, status, amount]),
    ...payouts.map(({ token, status, amount }) => ['payout ', token, status, amount]),
    ...wallets.map((wallet) => ['wallet ', ...Object.entries(wallet).map((each) => each.join(' '))]),
  ];
  return rows.map((row) => row.join('  ')).join('\n') || 'Nothing has happened yet.';
}

const createdAnswer = z.object({ token: z.string(), processingUrl: z.string().optional() });
const statusAnswer = z.object({ payment: z.object({ status: z.string() }) });
const balanceAnswer = z.object({ wallet: z.object({ currency: z.string(), available: z.int() }) });
const historyAnswer = z.object({
  events: z.array(z.object({ type: z.string(), at: z.string(), phase: z.string() })),
});

/** The gateway caches the provider's balance for a second: the first answer may lack money that has just settled. */
const balanceWithinMs = 3_000;

/** Creates a payment of the demo team, and pays it. */
async function takePayment(
  call: JsonCall,
  terms: object,
  pay: (created: z.infer<typeof createdAnswer>) => Promise<void>,
): Promise<string> {
  const created = await call(createdAnswer, 'POST', '/api/v1/payments', terms);
  const { token } = created;
  await pay(created);
  await untilApproved(
    async () => (await call(statusAnswer, 'GET', `/api/v1/payments/${token}`)).payment.status,
  );
  return token;
}

async function fund(
  tools: SandboxTools,
  { amount = 100_000, currency = 'EUR' }: { amount: number | undefined; currency: string | undefined },
): Promise<CommandResult> {
  await using stops = new AsyncDisposableStack();
  const { call: callGateway, close } = tools.gateway();
  stops.defer(close);
  const terms = { product: 'Money for payouts', amount, currency, orderNumber: tools.newOrderNumber() };
  const token = await takePayment(callGateway, terms, async (created) => {
    const serviceToken = await serviceTokenOf(tools, created.token);
    const control = (name: string, how: object) =>
      tools.call(paymentAnswer, 'POST', `/sandbox/payments/${serviceToken}/${name}`, how);
    await control('pay', { outcome: 'approved' });
    await control('settle', {});
  });
  const readBalance = async () =>
    (await callGateway(balanceAnswer, 'GET', `/api/v1/balance?currency=${currency}`)).wallet.available;
  const available = await askUntil(readBalance, (sum) => sum >= amount, balanceWithinMs);
  const [took, has] = [amount, available].map((sum) => formatAmount(sum, currency));
  const report = `The demo team took ${took} by ${token}, and can pay out ${has} now (${available} in minor units).`;
  return done(report, { token, amount, currency, available });
}

async function demo(tools: SandboxTools): Promise<CommandResult> {
  await using stops = new AsyncDisposableStack();
  const { call, close } = tools.gateway();
  stops.defer(close);
  const terms = {
    product: 'Tea for two',
    amount: 1250,
    currency: 'EUR',
    orderNumber: tools.newOrderNumber(),
  };
  const token = await takePayment(call, terms, ({ processingUrl = '' }) => tools.payOnPage(processingUrl));
  const { events } = await call(historyAnswer, 'GET', `/api/v1/payments/${token}/events`);
  const lines = events.map(({ at, type, phase }) => `${at}  ${type.padEnd(18)} ${phase}`);
  const shown = `${tools.consoleUrl}/payments/${token}`;
  return done([`The demo team took 12.50 EUR:`, ...lines, shown].join('\n'), { token, events });
}
