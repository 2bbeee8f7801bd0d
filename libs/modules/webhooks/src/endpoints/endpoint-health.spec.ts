import { silentLog } from '@tollgate/service-kit';
import { createFakeClock } from '@tollgate/testing';
import { describe, expect, it } from 'vitest';
import { retryPausesMs } from '../retry-schedule.ts';
import { decideOutcome, evolveWebhooks, noWebhooks, type Outcome, type Webhook } from '../webhook-state.ts';
import { createEndpointHealth } from '../dispatcher.ts';
import { dueOf } from '../testing/subjects.ts';

const due = dueOf('pay_1', { id: 'whk_1', endpoint: 'we_1', at: 1 });
const refusedEachTime = (changes: Partial<Webhook> = {}): Webhook => ({
  ...due,
  createdAt: 0,
  state: 'open',
  nextAt: 0,
  failuresInRow: retryPausesMs.length,
  deliveries: retryPausesMs.map((_, index) => ({
    attempt: index + 1,
    at: 100 + index,
    statusCode: 500,
    isDelivered: false,
  })),
  ...changes,
});
const answered = (statusCode: number): Outcome => ({ kind: 'answered', statusCode });

function start() {
  const reasons: string[] = [];
  const clock = createFakeClock({ now: 50 });
  const book: Parameters<typeof createEndpointHealth>[0]['book'] = {
    change: async (_owner, command) => {
      if (command.type === 'Disable') reasons.push(command.reason);
      return { kind: 'done', endpoints: [], events: [] };
    },
  };
  return { reasons, clock, health: createEndpointHealth({ book, clock, log: silentLog }) };
}

describe('an endpoint is disabled', () => {
  it.each([
    ['by its answer 410', refusedEachTime({ failuresInRow: 0, deliveries: [] }), answered(410), ['gone']],
    ['by the failure of the last attempt', refusedEachTime(), answered(500), ['given_up']],
    ['by a timeout then', refusedEachTime(), { kind: 'failed', reason: 'timeout' }, ['given_up']],
    ['by no failure before', refusedEachTime({ failuresInRow: 8 }), answered(500), []],
    ['by nothing that was abandoned', refusedEachTime(), { kind: 'abandoned' }, []],
    ['by no webhook to a callbackUrl', withoutEndpoint(), answered(410), []],
  ] as const)('%s', async (_, webhook, outcome, reasons) => {
    const given = start();
    await given.health.note(webhook, outcome, 50);
    expect(given.reasons).toEqual(reasons);
  });

  it('not for one body that it always refuses, while it accepts others', async () => {
    const given = start();
    await given.health.note(refusedEachTime({ id: 'whk_0' }), answered(204), 50);
    await given.health.note(refusedEachTime(), answered(500), 50);
    expect(given.reasons).toEqual(['given_up']);
    await given.clock.advance(100);
    await given.health.note(refusedEachTime({ id: 'whk_2' }), answered(204), 50);
    await given.health.note(refusedEachTime(), answered(500), 50);
    expect(given.reasons).toEqual(['given_up']);
  });
});

it('a webhook is abandoned without an attempt, and stays delivered if it was', () => {
  const { id } = due;
  const state = evolveWebhooks(noWebhooks, { type: 'WebhookDue', data: due });
  const decided = decideOutcome(state, { id, at: 2, outcome: { kind: 'abandoned' } }, () => 3);
  expect(decided).toEqual({ kind: 'events', events: [{ type: 'DeliveryGivenUp', data: { id, at: 2 } }] });
  const delivered = { id, attempt: 1, at: 2, statusCode: 200 };
  const taken = evolveWebhooks(state, { type: 'Delivered', data: delivered });
  const again = decideOutcome(taken, { id, at: 3, outcome: { kind: 'abandoned' } }, () => 4);
  expect(again).toEqual({ kind: 'events', events: [] });
});

function withoutEndpoint(): Webhook {
  const { endpoint: _, ...webhook } = refusedEachTime();
  return webhook;
}
