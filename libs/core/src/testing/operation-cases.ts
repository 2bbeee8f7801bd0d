/** The operations that move money, in one form, so that one suite checks the one rule for calling for all of them. */
import type { OperationResult } from '../operations/operation.ts';
import { deriveOperationToken } from '../tokens.ts';
import type { Operation } from './fake-provider.ts';
import { type Harness, type Instance, caller, card, keyOf, payoutFor, scopeOf, teaFor } from './harness.ts';

/** The result, in one word. */
type StateOf = (harness: Harness, token: string) => Promise<string | undefined>;

export interface OperationCase {
  name: string;
  operation: Operation;
  /** Type of the event that announces the call. */
  announcement: string;
  /** Makes the prerequisites of the operation; returns the token of the payment or payout. */
  prepare(harness: Harness): Promise<string>;
  /** The same request each time, like a repeat. */
  ask(instance: Instance, token: string): Promise<OperationResult<object, { code: string }>>;
  stateOf: StateOf;
  /** Calls made at once while their outcomes are unknown: a page that no customer received is followed by others. */
  attempts: number;
  whenAnnounced: string;
  whenUnknown: string;
  whenDone: string;
}

const paymentPhase: StateOf = async ({ payments }, token) => (await payments.load(token))?.payment.phase;

const creation = (name: string, more: Parameters<typeof teaFor>[2], whenDone: string): OperationCase => ({
  name,
  operation: 'authorize',
  announcement: 'PaymentRequested',
  stateOf: paymentPhase,
  prepare: async () =>
    deriveOperationToken('pay', scopeOf(caller), { source: 'orderNumber', value: 'order-1' }),
  ask: ({ create }) => create(teaFor('order-1', 1250, more)),
  attempts: 1,
  whenAnnounced: 'requested',
  whenUnknown: 'unresolved',
  whenDone,
});

const hosted = { ...creation('a hosted creation', {}, 'init'), attempts: 3 };
const byCard = creation('a creation by card', { card }, 'approved');

export const recurringAlias = 'rec_of-the-team';

/** The provider's token behind the alias of {@link recurringAlias}. */
export const keepRecurringToken = (
  { recurringTokens }: Pick<Harness, 'recurringTokens'>,
  changes: Partial<Parameters<Harness['recurringTokens']['keep']>[1]> = {},
  alias = recurringAlias,
): Promise<void> =>
  recurringTokens.keep(
    alias,
    {
      environment: 'sandbox',
      team: 'demo',
      account: 'main',
      paymentToken: 'pay_first',
      serviceRecurringToken: 'service-recurring',
      ...changes,
    },
    { correlationId: 'c', causationId: 'c', actor: { kind: 'service', name: 'spec' } },
  );

const charge = creation('a recurring creation', { recurringToken: recurringAlias }, 'approved');
const recurring: OperationCase = {
  ...charge,
  async prepare(harness) {
    await keepRecurringToken(harness);
    return charge.prepare(harness);
  },
};

const captureOrVoid = (operation: 'capture' | 'void'): OperationCase => ({
  name: `a ${operation}`,
  operation,
  announcement: operation === 'capture' ? 'CaptureSubmitted' : 'VoidSubmitted',
  prepare: ({ authorized }) => authorized('order-1'),
  ask: ({ end }, token) => end(operation, token),
  stateOf: paymentPhase,
  attempts: 1,
  whenAnnounced: operation === 'capture' ? 'capturing' : 'voiding',
  whenUnknown: operation === 'capture' ? 'capturing' : 'voiding',
  whenDone: operation === 'capture' ? 'approved' : 'voided',
});

const refundToken = deriveOperationToken('ref', scopeOf(caller), keyOf('refund-1'));

const refund: OperationCase = {
  name: 'a refund',
  operation: 'refund',
  announcement: 'RefundSubmitted',
  prepare: ({ approved }) => approved('order-1'),
  ask: (instance, token) => instance.refund(token, 'refund-1', 60),
  stateOf: async ({ payments }, token) =>
    (await payments.load(token))?.payment.refunds.find((each) => each.refundToken === refundToken)?.state,
  attempts: 1,
  whenAnnounced: 'submitted',
  whenUnknown: 'unresolved',
  whenDone: 'approved',
};

const payout: OperationCase = {
  name: 'a payout',
  operation: 'payout',
  announcement: 'PayoutRequested',
  prepare: async () =>
    deriveOperationToken('po', scopeOf(caller), { source: 'orderNumber', value: 'order-1' }),
  ask: ({ payOut }) => payOut(payoutFor('order-1')),
  stateOf: async ({ payouts }, token) => (await payouts.load(token))?.payout.phase,
  attempts: 1,
  whenAnnounced: 'requested',
  whenUnknown: 'unresolved',
  whenDone: 'approved',
};

export const operationCases = {
  hosted,
  byCard,
  recurring,
  capture: captureOrVoid('capture'),
  void: captureOrVoid('void'),
  refund,
  payout,
} as const;

export const allOperations: readonly OperationCase[] = Object.values(operationCases);

/** Operations whose unknown outcome only an inquiry ends. */
export const unrepeatableOperations: readonly OperationCase[] = allOperations.filter(
  ({ attempts }) => attempts === 1,
);

type Lost = 'lost-before' | 'lost-after';

/** Loses the answers of the next request, so that its outcome is unknown. */
export function loseAnswers({ provider }: Harness, { operation, attempts }: OperationCase, kind: Lost): void {
  for (let attempt = 1; attempt <= attempts; attempt += 1) provider.faultsOf[operation].push({ kind });
}
