import { describe, expect, it } from 'vitest';
import { layOutMachine } from './machine-layout.ts';
import { statePicture } from './state-picture.ts';
import { type HistoryEvent, wayOf } from './way.ts';

const { edges, places, frames, width } = layOutMachine();
const at = (seconds: number) => new Date(Date.UTC(2030, 0, 1, 12, 0, seconds)).toISOString();
const history = (...events: [type: string, phase: string][]): HistoryEvent[] =>
  events.map(([type, phase], place) => ({ type, phase, at: at(place) }));

const requested = ['PaymentRequested', 'requested'] as [string, string];
const accepted = ['AttemptAccepted', 'init'] as [string, string];
const approved = ['PaymentApproved', 'approved'] as [string, string];

describe('the picture of the machine', () => {
  it('has a place for every state, without overlaps, and every transition between two of them', () => {
    expect([...places.keys()]).toEqual(
      expect.arrayContaining([
        'creating.announced',
        'init',
        'voiding.unresolved',
        'failed',
        'refund.accepted',
      ]),
    );
    for (const id of edges.flatMap(({ from, to }) => [from, to]))
      expect(places.has(id) || id === 'refund.idle', id).toBe(true);
    const all = [...places.values()];
    for (const one of all) {
      expect(one.x + one.width).toBeLessThanOrEqual(width);
      for (const other of all)
        if (one !== other)
          expect(
            one.x + one.width <= other.x ||
              other.x + other.width <= one.x ||
              one.y + one.height <= other.y ||
              other.y + other.height <= one.y,
            `${one.id} ${other.id}`,
          ).toBe(true);
    }
    expect(frames.map(({ id }) => id).toSorted()).toEqual(['capturing', 'creating', 'voiding']);
  });

  it("describes the payment's current state in words", () => {
    const { html } = statePicture(history(requested, accepted, approved));
    expect(html).toMatch(/aria-label="States: Waiting for the customer, Approved\. Approved"/);
    expect(html.match(/class="place now"/g)).toHaveLength(1);
  });
});

describe('the path of a payment', () => {
  it('is derived from its events, with the time spent in each state', () => {
    const { steps, now } = wayOf(history(requested, accepted, approved), edges);
    expect(steps).toMatchObject([
      { from: 'creating.announced', to: 'init', event: 'AttemptAccepted', spentMs: 1_000 },
      { from: 'init', to: 'approved', event: 'PaymentApproved', spentMs: 1_000 },
    ]);
    expect([...now]).toEqual(['approved', 'refund.idle']);
  });

  it('continues only where the machine allows it', () => {
    const waiting = wayOf(history(requested, accepted), edges);
    expect([...waiting.ahead]).toEqual(expect.arrayContaining(['approved', 'voided', 'refund.accepted']));
    expect([...waiting.ahead]).not.toContain('failed');
    expect(new Set(waiting.next.map(({ to }) => to))).toEqual(
      new Set(['approved', 'declined', 'expired', 'pending', 'authorized']),
    );
    const declined = wayOf(history(requested, accepted, ['PaymentDeclined', 'declined']), edges);
    expect([...declined.ahead]).not.toContain('refund.announced');
  });

  it('includes a lost answer, a concurrent refund, and a full refund at the end', () => {
    const { steps } = wayOf(
      history(
        ...([requested, ['AttemptUnresolved', 'unresolved'], accepted, approved] as [string, string][]),
        ...([
          ['RefundSubmitted', 'approved'],
          ['RefundApproved', 'refunded'],
        ] as [string, string][]),
      ),
      edges,
    );
    expect(steps.map(({ to }) => to)).toEqual([
      ...['creating.unresolved', 'init', 'approved', 'refund.announced', 'refunded', 'refund.idle'],
    ]);
  });

  it('of an adopted payment starts with the status shown by the Payment Service', () => {
    expect([...wayOf(history(['PaymentAdopted', 'approved']), edges).now]).toContain('approved');
    expect(wayOf([], edges).steps).toEqual([]);
  });
});
