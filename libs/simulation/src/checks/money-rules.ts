/** What bounds the teams' money besides what they took: a shared wallet, limits, and a second key for payouts above a sum. */
import type { RecordedEvent } from '@tollgate/event-store';
import type { MoneyLimit, Wallet } from '@tollgate/core';
import type { Books, Complain, OperationOnRecord } from './books.ts';
import type { Random } from '../world/random.ts';

type Operation = MoneyLimit['operation'];

/** Of one team. Minor units of its only currency. */
export interface MoneyRules {
  wallet: Wallet;
  /** Above it, payouts wait for a second key. */
  approvalAbove: number | undefined;
  limits: readonly (Pick<MoneyLimit, 'perCall' | 'perDay'> & { operation: Operation })[];
}

export type RulesOfTeams = (team: string) => MoneyRules;

const none: MoneyRules = { wallet: { kind: 'own' }, approvalAbove: undefined, limits: [] };

/** Half of the seeds have none. */
export function drawMoneyRules(random: Random): RulesOfTeams {
  if (random.chance(0.5)) return () => none;
  const wallet: Wallet = random.chance(0.3) ? { kind: 'shared', name: 'both' } : { kind: 'own' };
  const drawn = new Map<string, MoneyRules>();
  const draw = (own: Random): MoneyRules => ({
    wallet,
    approvalAbove: own.chance(0.6) ? own.pick([0, 50, 100]) : undefined,
    limits: (['payment', 'refund', 'payout'] as const)
      .filter(() => own.chance(0.4))
      .map((operation) => ({
        operation,
        perCall: own.chance(0.3) ? perCall[operation] : null,
        perDay: own.pick(perDay[operation]),
      })),
  });
  return (team) => {
    const rules = drawn.get(team) ?? draw(random.fork(team));
    drawn.set(team, rules);
    return rules;
  };
}

const perCall: Record<Operation, number> = { payment: 1_500, refund: 500, payout: 150 };
const perDay: Record<Operation, readonly number[]> = {
  payment: [1_500, 4_000],
  refund: [400, 1_200],
  payout: [100, 300],
};

/** The same for teams that pay out of what they took together. */
export const walletsBy =
  (rulesOf: RulesOfTeams) =>
  (team: string): string => {
    const { wallet } = rulesOf(team);
    return wallet.kind === 'shared' ? wallet.name : team;
  };

interface MoneyChecks {
  /** After the books have it. */
  onRecorded(event: RecordedEvent): void;
  /** A payout leaves for the service. */
  onPayoutSent(operation: OperationOnRecord): void;
}

/** What counts under a limit: asked for on a day, and not come to nothing. */
interface Counted {
  team: string;
  operation: Operation;
  day: number;
  amount: number;
}

const dayMs = 86_400_000;

/** By the books, and nothing of the gateway's own sums. */
export function createMoneyChecks({
  rulesOf,
  books,
  complain,
}: {
  rulesOf: RulesOfTeams;
  books: Books;
  complain: Complain;
}): MoneyChecks {
  const counted = new Map<string, Counted>();

  function count(token: string, entry: Counted): void {
    if (counted.has(token)) return;
    counted.set(token, entry);
    const { team, operation, day, amount } = entry;
    for (const limit of rulesOf(team).limits.filter((each) => each.operation === operation)) {
      if (limit.perCall !== null && amount > limit.perCall)
        complain('limits', `${token}: a ${operation} of ${amount} under a limit of ${limit.perCall}`);
      const sum = [...counted.values()]
        .filter((each) => each.team === team && each.operation === operation && each.day === day)
        .reduce((total, each) => total + each.amount, 0);
      if (limit.perDay !== null && sum > limit.perDay)
        complain(
          'limits',
          `${token}: ${team} has ${sum} of ${operation}s under a limit of ${limit.perDay} a day`,
        );
    }
  }

  return {
    onRecorded: (event) => {
      const { stream, type, data, metadata } = event;
      const [, kind = '', token = ''] = /^(payment|payout)-(.+)$/.exec(stream) ?? [];
      const operation = books.find(token);
      if (operation === undefined) return;
      const {
        refundToken,
        amount = 0,
        to = '',
      } = data as { refundToken?: string; amount?: number; to?: string };
      const day = Math.floor(Number((metadata as { recordedAt?: number }).recordedAt) / dayMs);
      const { team } = operation;
      if (asks.has(type)) count(token, { team, operation: kind as Operation, day, amount: operation.amount });
      if (type === 'RefundSubmitted' && refundToken !== undefined)
        count(refundToken, { team, operation: 'refund', day, amount });
      // Whatever it becomes later: others have had its place.
      if (endsInNothing.has(type) || nothing.has(to)) forget(refundToken ?? token);
    },
    onPayoutSent: ({ token, team, amount, askedBy, grantedBy, isRefused }) => {
      if (isRefused) complain('approval', `${token} is sent, and a second key has refused it`);
      if (amount <= (rulesOf(team).approvalAbove ?? Infinity)) return;
      if (grantedBy === undefined || grantedBy === askedBy)
        complain('approval', `${token} of ${amount} is sent, and no second key has approved it`);
    },
  };

  function forget(token: string): void {
    const entry = counted.get(token);
    if (entry !== undefined) counted.set(token, { ...entry, amount: 0 });
  }
}

const asks = new Set(['PaymentRequested', 'PayoutRequested', 'PayoutApprovalRequested']);
/** What a final status is revised to. */
const nothing = new Set(['declined', 'expired']);
const endsInNothing = new Set([
  ...[
    'PaymentDeclined',
    'PaymentExpired',
    'PaymentFailed',
    'PaymentVoided',
    'PayoutDeclined',
    'PayoutFailed',
  ],
  'RefundDeclined',
]);
