/** Checks permissions: limits and approvals, computed without the gateway's own sums; resolutions of reviews. */
import type { RecordedEvent } from '@tollgate/event-store';
import type { Operation } from '../people/teams.ts';
import type { World } from '../world.ts';
import { type OperationOnRecord, freeing } from './books.ts';

/** Operations that count towards a limit: requested on that day, and not failed. */
interface Counted {
  team: string;
  operation: Operation;
  day: number;
  amount: number;
}

const dayMs = 86_400_000;

export function createMoneyChecks({ rules, books, complain }: World) {
  const counted = new Map<string, Counted>();

  function count(token: string, entry: Counted): void {
    if (counted.has(token)) return;
    counted.set(token, entry);
    const { team, operation, day, amount } = entry;
    /** The loosest of the limits in effect recently. */
    const boundOf = (kind: 'perCall' | 'perDay') =>
      Math.max(
        ...rules.lately(team).map(({ limits }) => {
          const limit = limits.find((each) => each.operation === operation);
          return limit?.[kind] ?? Infinity;
        }),
      );
    if (amount > boundOf('perCall'))
      complain('limits', `${token}: a ${operation} of ${amount} under a limit of ${boundOf('perCall')}`);
    const sum = [...counted.values()]
      .filter((each) => each.team === team && each.operation === operation && each.day === day)
      .reduce((total, each) => total + each.amount, 0);
    if (sum > boundOf('perDay'))
      complain(
        'limits',
        `${token}: ${team} has ${sum} of ${operation}s a day, limited to ${boundOf('perDay')}`,
      );
  }

  function forget(token: string): void {
    const entry = counted.get(token);
    if (entry !== undefined) counted.set(token, { ...entry, amount: 0 });
  }

  return {
    /** Runs after the books have applied the event. */
    onRecorded: ({ stream, type, data, metadata }: RecordedEvent): void => {
      const [, kind = '', token = ''] = /^(payment|payout)-(.+)$/.exec(stream) ?? [];
      const operation = books.find(token);
      if (operation === undefined) return;
      const { refundToken, amount = 0, to = '' } = data as Partial<Asked>;
      const day = Math.floor(Number((metadata as { recordedAt?: number }).recordedAt) / dayMs);
      const { team } = operation;
      if (asks.has(type)) count(token, { team, operation: kind as Operation, day, amount: operation.amount });
      if (type === 'RefundSubmitted' && refundToken !== undefined)
        count(refundToken, { team, operation: 'refund', day, amount });
      // Later changes do not matter: the released limit may already have been used.
      if (endsInNothing.test(type) || to === 'declined' || to === 'expired') forget(refundToken ?? token);
    },
    /** A payout is sent to the service. */
    onPayoutSent: ({ token, team, amount, askedBy, grantedBy, isRefused }: OperationOnRecord): void => {
      if (isRefused) complain('approval', `${token} is sent, and a second key has refused it`);
      const above = Math.max(...rules.lately(team).map((each) => each.approvalAbove ?? Infinity));
      if (amount > above && (grantedBy === undefined || grantedBy === askedBy))
        complain('approval', `${token} of ${amount} is sent, and no second key has approved it`);
    },
  };
}

interface Asked {
  refundToken: string;
  amount: number;
  to: string;
}

const asks = new Set(['PaymentRequested', 'PayoutRequested', 'PayoutApprovalRequested']);
const endsInNothing = /^(Payment(Declined|Expired|Failed|Voided)|Payout(Declined|Failed)|RefundDeclined)$/;

/** I20: only an operator's resolution releases money. */
export function requireOperator(
  { stream, type, data, metadata }: RecordedEvent,
  complain: World['complain'],
): void {
  if (type !== 'ReviewResolutionProposed' && type !== 'ReviewResolved') return;
  const { number, resolution, releases } = data as { number: number; resolution: string; releases?: true };
  const { actor } = metadata as { actor?: { kind: string } };
  if (actor?.kind === 'team' && (freeing.has(resolution) || releases === true))
    complain('I20', `a key of the team resolves review ${number} of ${stream}: ${resolution}`);
}
