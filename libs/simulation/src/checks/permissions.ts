/** Checks permissions: limits, approvals and paused accounts, computed without the gateway's own sums; resolutions of reviews. */
import type { RecordedEvent } from '@tollgate/event-store';
import type { Operation } from '../people/teams.ts';
import type { World } from '../world.ts';
import { type OperationOnRecord, freeing, sumOf } from './books.ts';

/** Operations that count towards a limit: requested on that day, and not failed. */
interface Counted {
  team: string;
  operation: Operation;
  day: number;
  amount: number;
}

const dayMs = 86_400_000;

export function createMoneyChecks({ rules, complain }: World) {
  const counted = new Map<string, Counted>();

  function count(token: string, entry: Counted): void {
    if (counted.has(token)) return;
    counted.set(token, entry);
    const { team, operation, day, amount } = entry;
    const limits = rules
      .lately(team)
      .map((each) => each.limits.find((limit) => limit.operation === operation));
    /** The loosest of the limits in effect recently. */
    const boundOf = (kind: 'perCall' | 'perDay') =>
      Math.max(...limits.map((limit) => limit?.[kind] ?? Infinity));
    if (amount > boundOf('perCall'))
      complain('limits', `${token}: a ${operation} of ${amount} under a limit of ${boundOf('perCall')}`);
    const ofDay = (each: Counted) => each.team === team && each.operation === operation && each.day === day;
    const sum = sumOf(counted.values().filter(ofDay));
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
    onRecorded: ({ type, data, metadata }: RecordedEvent, operation: OperationOnRecord | undefined): void => {
      if (operation === undefined) return;
      const { token, kind, team } = operation;
      const {
        refundToken,
        amount = 0,
        to = '',
      } = data as { refundToken?: string; amount?: number; to?: string };
      const day = Math.floor(Number((metadata as { recordedAt?: number }).recordedAt) / dayMs);
      if (asks.has(type)) count(token, { team, operation: kind, day, amount: operation.amount });
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

const asks = new Set(['PaymentRequested', 'PayoutRequested', 'PayoutApprovalRequested']);
const endsInNothing = /^(Payment(Declined|Expired|Failed|Voided)|Payout(Declined|Failed)|RefundDeclined)$/;

/** Resolutions by observation, without a person. */
const foundOut = new Set(['found', 'retrieved', 'superseded']);
/** The review is closed when an operator adopts the payment or it is found to be ours. */
const known = 'It belongs to a team of the gateway.';

export function createReviewChecks({ isReviewByTwo, complain }: World) {
  /** By stream and review number: the latest resolution and its author. */
  const proposed = new Map<string, string>();
  return ({ stream, type, data, metadata }: RecordedEvent): void => {
    if (type !== 'ReviewResolutionProposed' && type !== 'ReviewResolved') return;
    const { number, resolution, reason, releases } = data as {
      number: number;
      resolution: string;
      reason?: string;
      releases?: true;
    };
    const { actor } = metadata as { actor?: { kind: string; name?: string } };
    const review = `${number} of ${stream}`;
    if (actor?.kind === 'team' && (freeing.has(resolution) || releases === true))
      complain('I20', `a key of the team resolves review ${review}: ${resolution}`);
    const [first, firstBy] = proposed.get(review)?.split(' ') ?? [];
    if (type === 'ReviewResolutionProposed') {
      if (!isReviewByTwo) complain('two people', `review ${review} takes one person, and waits for another`);
      proposed.set(review, `${resolution} ${actor?.name}`);
    } else if (isReviewByTwo && !foundOut.has(resolution) && reason !== known)
      if (first !== resolution || firstBy === actor?.name)
        complain('two people', `review ${review} is resolved by ${actor?.name} alone: ${resolution}`);
  };
}

/** Calls in progress continue. They are announced at most this long after the answer. @unit milliseconds */
const announcedAfterMs = 10_000;
/** A request held by a stopped machine takes effect at most this long after it went unanswered. @unit milliseconds */
const heldMs = 240_000;

/** The process that sends a call, and its account. */
export interface Sender {
  account: string;
  life: string;
}

export function createPausedAccounts({ scheduler: { now }, complain }: World) {
  /** By account and process. */
  const since = new Map<string, number>();
  const unansweredAt = new Map<string, number>();
  return {
    onPaused: (account: string, life: string): void => {
      if (now() >= (unansweredAt.get(account) ?? -Infinity) + heldMs) since.set(`${account} ${life}`, now());
    },
    /** An operator is about to resume the account. */
    onResuming: (account: string): void => {
      for (const key of since.keys()) if (key.startsWith(`${account} `)) since.delete(key);
    },
    /** Another change went unanswered: it may take effect after a later pause. */
    onOtherUnanswered: (account: string): void => void unansweredAt.set(account, now()),
    requireCalled: ({ account, life }: Sender, announcedAt: number, what: string): void => {
      if (announcedAt > (since.get(`${account} ${life}`) ?? Infinity) + announcedAfterMs)
        complain('closed', `${life} sends ${what} through ${account}, which it has reported as paused`);
    },
  };
}
