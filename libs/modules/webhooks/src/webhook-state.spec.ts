import { InvariantViolation } from '@tollgate/core';
import { describe, expect, it } from 'vitest';
import { dueOf } from './testing/subjects.ts';
import type { WebhookEvent } from './webhook-events.ts';
import {
  decideDue,
  decideOutcome,
  decideReplay,
  dueWebhook,
  evolveWebhooks,
  nextTryAt,
  noWebhooks,
  replaysMax,
  type Outcome,
  type SubjectWebhooks,
} from './webhook-state.ts';

const due = (id: string) => dueOf('pay_1', { id, at: 1 });

const fold = (events: readonly WebhookEvent[], from: SubjectWebhooks = noWebhooks) =>
  events.reduce(evolveWebhooks, from);

function eventsOf(decision: ReturnType<typeof decideReplay>): readonly WebhookEvent[] {
  if (decision.kind === 'refused') throw new Error(decision.refusal.code);
  return decision.events;
}

const given = (...ids: string[]) => fold(eventsOf(decideDue(noWebhooks, ids.map(due))));

/** Ten attempts: after n failures the next is due at n, and there is none after the tenth. */
const schedule = (failures: number) => (failures < 10 ? failures * 100 : undefined);

function tried(state: SubjectWebhooks, id: string, outcome: Outcome): SubjectWebhooks {
  return fold(eventsOf(decideOutcome(state, { id, at: 7, outcome }, schedule)), state);
}
const triedTenTimes = () =>
  Array.from({ length: 10 }).reduce<SubjectWebhooks>((state) => tried(state, 'a', failed), given('a', 'b'));
const failed: Outcome = { kind: 'failed', reason: 'timeout' };
const answered = (statusCode: number): Outcome => ({ kind: 'answered', statusCode });

describe('a due webhook', () => {
  it('is recorded once, however often it is decided', () => {
    expect(eventsOf(decideDue(given('a'), [due('a'), due('b')]))).toEqual([
      { type: 'WebhookDue', data: due('b') },
    ]);
  });

  it('is attempted at once, in order, at any wall clock time', () => {
    expect(dueWebhook(given('a', 'b'), 0)?.id).toBe('a');
    expect(nextTryAt(given('a', 'b'))).toBe(0);
  });

  // A receiver that was unavailable for a moment got `approved` first, and `pending` five minutes later.
  it('waits until the previous one was delivered or abandoned', () => {
    const state = tried(given('a', 'b'), 'a', failed);
    expect([dueWebhook(state, 99), nextTryAt(state)]).toEqual([undefined, 100]);
    expect(dueWebhook(state, 100)?.id).toBe('a');
    expect(dueWebhook(tried(state, 'a', answered(200)), 100)?.id).toBe('b');
    expect(dueWebhook(triedTenTimes(), 0)?.id).toBe('b');
  });

  it('does not wait for a replay, nor a replay for it', () => {
    const taken = tried(given('a', 'b'), 'a', answered(200));
    const replayed = fold(eventsOf(decideReplay(taken, 'a', 8)), taken);
    const refused = tried(replayed, 'a', failed);
    expect(dueWebhook(refused, 0)?.id).toBe('b');
    expect(dueWebhook(tried(refused, 'b', answered(200)), 100)?.id).toBe('a');
    // An open webhook stays before later ones, even if it is replayed.
    const open = tried(given('a', 'b'), 'a', failed);
    const asked = tried(fold(eventsOf(decideReplay(open, 'a', 8)), open), 'a', failed);
    expect(dueWebhook(asked, 99)).toBeUndefined();
  });
});

describe('an attempt', () => {
  it.each([
    ...[200, 201, 204, 299].map((status) => [status, { state: 'delivered' }, true] as const),
    ...[199, 300, 302, 400, 410, 500].map((code) => [code, { state: 'open', nextAt: 100 }, false] as const),
  ])('that is answered %i leaves %o', (statusCode, left, isDelivered) => {
    const [webhook] = tried(given('a'), 'a', answered(statusCode)).webhooks;
    expect(webhook).toMatchObject(left);
    expect(webhook?.deliveries).toEqual([{ attempt: 1, at: 7, statusCode, isDelivered }]);
  });

  it('that fails for the tenth time is the last', () => {
    const after = tried(triedTenTimes(), 'b', answered(200));
    expect(after.webhooks[0]).toMatchObject({ state: 'given_up', failuresInRow: 10 });
    const attempts = after.webhooks[0]?.deliveries.map(({ attempt }) => attempt);
    expect(attempts).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
    expect([nextTryAt(after), dueWebhook(after, 1e15)]).toEqual([undefined, undefined]);
  });

  it('of another process that failed revokes nothing, and is recorded', () => {
    const delivered = tried(given('a'), 'a', answered(200));
    const [webhook] = tried(delivered, 'a', failed).webhooks;
    expect(webhook).toMatchObject({ state: 'delivered' });
    expect(webhook?.deliveries).toHaveLength(2);
  });

  it('of another process that succeeded prevails over an abandonment', () => {
    const delivered = tried(given('a'), 'a', answered(200));
    const after = fold([{ type: 'DeliveryGivenUp', data: { id: 'a', at: 8 } }], delivered);
    expect(after.webhooks[0]?.state).toBe('delivered');
  });

  it('for an unknown webhook is a broken invariant', () => {
    expect(() => tried(given('a'), 'b', failed)).toThrow(InvariantViolation);
    const replay: WebhookEvent = { type: 'ReplayRequested', data: { id: 'b', at: 1 } };
    expect(() => fold([replay], given('a'))).toThrow(InvariantViolation);
  });

  it('alone is the rest of deleted webhooks', () => {
    expect(fold([{ type: 'Delivered', data: { id: 'b', attempt: 1, at: 1, statusCode: 200 } }])).toEqual(
      noWebhooks,
    );
  });
});

describe('a replay', () => {
  const delivered = tried(tried(given('a', 'b'), 'a', answered(200)), 'b', answered(200));

  it('of one webhook, or of all, makes it due at once', () => {
    expect(dueWebhook(fold(eventsOf(decideReplay(delivered, 'b', 9)), delivered), 0)?.id).toBe('b');
    expect(eventsOf(decideReplay(delivered, undefined, 9)).map(({ data }) => data.id)).toEqual(['a', 'b']);
  });

  it('gets the whole schedule again, and continues the count of attempts', () => {
    const failing = tried(fold(eventsOf(decideReplay(delivered, 'a', 9)), delivered), 'a', failed);
    expect(failing.webhooks[0]).toMatchObject({ state: 'open', nextAt: 100, failuresInRow: 1 });
    expect(failing.webhooks[0]?.deliveries.at(-1)?.attempt).toBe(2);
  });

  it('of a webhook that waits for its next attempt brings that forward', () => {
    const waiting = tried(given('a'), 'a', failed);
    expect(nextTryAt(fold(eventsOf(decideReplay(waiting, 'a', 9)), waiting))).toBe(0);
  });

  it('of a webhook that is due at once adds nothing', () => {
    expect(eventsOf(decideReplay(given('a'), 'a', 9))).toEqual([]);
  });

  it('of an unknown webhook is refused', () => {
    const refused = { kind: 'refused', refusal: { code: 'webhook_not_found' } };
    expect(decideReplay(delivered, 'c', 9)).toEqual(refused);
    expect(decideReplay(noWebhooks, undefined, 9)).toEqual(refused);
  });

  it('is refused beyond the limit', () => {
    const many = { ...delivered, replays: replaysMax - 1 };
    expect(eventsOf(decideReplay(many, 'a', 9))).toHaveLength(1);
    expect(decideReplay(many, undefined, 9)).toEqual({
      kind: 'refused',
      refusal: { code: 'too_many_replays' },
    });
  });
});
