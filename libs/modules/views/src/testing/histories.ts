/** Creates and records histories of any kind, for specs. */
import type { NewEvent, Position, RecordedEvent } from '@tollgate/event-store';
import fc from 'fast-check';

/** Part of every planted secret. */
export const planted = 'PLANTED';
export const startedAt = Date.UTC(2026, 0, 2, 3, 4, 5);

export interface AnyEvent {
  type: string;
  data: unknown;
}

/** A transfer between wallets. */
export const walletTransferred: AnyEvent = {
  type: 'WalletTransferred',
  data: {
    environment: 'sandbox',
    account: 'main',
    currency: 'EUR',
    amount: 100,
    from: 'team-shop',
    to: 'wallet-both',
    reason: 'r',
  },
};

interface Discrepant<Kind, Operation> {
  kind: Kind;
  operation: Operation;
  serviceToken: string;
}

/** A review of an operation that only the provider has, with the amount that it shows. */
export const discrepancyOpened = <const Kind extends string, const Operation extends string>(
  of: Discrepant<Kind, Operation>,
  amount?: number,
) => {
  const sums = of.operation === 'payment' ? 0 : null;
  const shown = { amount: amount ?? 0, currency: 'EUR', refundedAmount: sums, authorizedAmount: sums };
  const theirs = amount === undefined ? null : { status: 'approved', ...shown, orderNumber: null };
  const { kind, serviceToken } = of;
  const data = {
    code: 'discrepancy' as const,
    evidence: { kind, serviceToken },
    discrepancy: { ...of, ours: null, theirs },
  };
  return { type: 'ReviewOpened', data } as const;
};

/** The first answer to the first review of a code, and the second one. */
export const reviewAnswers = <const Resolution extends { code: string; resolution: string }>(
  of: Resolution,
) => {
  const answer = { ...of, number: 1, reason: 'by hand' };
  const data = { ...answer, proposedBy: 'k1', proposedAt: startedAt };
  return {
    resolutionProposed: { type: 'ReviewResolutionProposed', data },
    reviewResolved: { type: 'ReviewResolved', data: answer },
  } as const;
};

/** Events in an order that the domain allows, after the first one. */
export const historiesOf = <State, Event>(
  first: Event,
  candidates: readonly Event[],
  evolve: (state: State | undefined, event: Event) => State,
): fc.Arbitrary<Event[]> =>
  fc.array(fc.constantFrom(...candidates), { maxLength: 30, size: 'max' }).map((events) => {
    const history = [first];
    let state = evolve(undefined, first);
    for (const event of events) {
      try {
        state = evolve(state, event);
        history.push(event);
      } catch {
        // Not allowed here; the history continues without it.
      }
    }
    return history;
  });

const uuid = (number: number) => `00000000-0000-4000-8000-${number.toString().padStart(12, '0')}`;

const metadataOf = (index: number) => ({
  schemaVersion: 1,
  correlationId: 'c-1',
  causationId: 'r-1',
  recordedAt: startedAt + index * 1_000,
  actor: { kind: 'team', team: 'shop', keyId: 'k1' },
});

/** Events as they are given to a store, one second apart. `from` is the revision of the first. */
export const toNewEvents = (events: readonly AnyEvent[], newId: () => string, from = 0): NewEvent[] =>
  events.map(({ type, data }, index) => ({ id: newId(), type, data, metadata: metadataOf(from + index) }));

/** Events as a store returns them, in one stream. */
export function toRecordedIn(stream: string, events: readonly AnyEvent[]): RecordedEvent[] {
  let number = 0;
  const recorded = toNewEvents(events, () => uuid((number += 1)));
  return recorded.map((event, revision) => ({
    ...event,
    kind: 'event',
    stream,
    revision,
    position: (revision + 1).toString().padStart(16, '0') as Position,
    recordedAt: startedAt,
  }));
}
