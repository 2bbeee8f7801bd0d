import { scenario, propertyRuns } from '@tollgate/testing';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import type { ObservedDispute } from '@tollgate/core';
import { InvariantViolation } from '@tollgate/service-kit';
import matchedLater from './histories/dispute-matched-later.json' with { type: 'json' };
import matched from './histories/dispute-matched.json' with { type: 'json' };
import {
  decideDispute,
  decodeDisputeEvent,
  disputeEventSchemas,
  disputeStream,
  evolveDispute,
  type Dispute,
  type DisputeEvent,
  type DisputeRefusal,
  type ObserveDispute,
} from './dispute.ts';
import { containsCardNumber } from '@tollgate/service-kit/card-number';

const { given } = scenario<Dispute | undefined, ObserveDispute, DisputeEvent, DisputeRefusal>({
  initial: undefined,
  evolve: evolveDispute,
  decide: decideDispute,
});

const shown: ObservedDispute = { id: '17', amount: 1000, currency: 'EUR', status: 'pending', state: 'open' };
const reported = {
  type: 'chargeback',
  reasonCode: '4853',
  comment: 'Not as described',
  openedAt: 1_750_000_000_000,
};
const payment = { token: 'pay_1', team: 'shop' };
const observe = (
  changes: Partial<ObservedDispute> = {},
  more: Partial<ObserveDispute> = {},
): ObserveDispute => ({
  type: 'ObserveDispute',
  environment: 'sandbox',
  account: 'main',
  observed: { ...shown, ...changes },
  ...more,
});
const opened = (data: Partial<Dispute> = {}): DisputeEvent => ({
  type: 'DisputeOpened',
  data: { environment: 'sandbox', account: 'main', ...shown, ...data },
});
const changed = (data: Partial<Dispute> & { status: string }): DisputeEvent => ({
  type: 'DisputeChanged',
  data,
});
const match: DisputeEvent = { type: 'DisputeMatched', data: { team: 'shop', paymentToken: 'pay_1' } };

describe('a new dispute', () => {
  test('is opened without a team if its payment is not known', () =>
    given([]).when(observe()).then([opened()]));

  test('is opened with its payment if known, and with everything that the list shows', () =>
    given([])
      .when(observe(reported, { payment }))
      .then([opened({ ...reported, team: 'shop', paymentToken: 'pay_1' })]));
});

describe('a known dispute', () => {
  test('with the same facts writes nothing', () => {
    given([opened()]).when(observe()).thenNothing();
    given([opened(reported), match])
      .when(observe(reported, { payment }))
      .thenNothing();
  });

  test('with another status is recorded as changed', () =>
    given([opened(reported)])
      .when(observe({ ...reported, status: 'approved' }))
      .then([changed({ status: 'approved' })]));

  test.each([
    { amount: 900 },
    { currency: 'USD' },
    { type: 'retrieval' },
    { reasonCode: '4837' },
    { comment: 'Evidence was accepted' },
    { state: 'unknown' as const },
  ])('with another fact records only that fact: %j', (fact) =>
    given([opened(reported)])
      .when(observe({ ...reported, ...fact }))
      .then([changed({ status: 'pending', ...fact })]),
  );

  test('with missing facts keeps the known ones', () =>
    given([opened(reported)])
      .when(observe())
      .thenNothing());

  test('keeps its opening time', () => {
    given([opened(reported)])
      .when(observe({ ...reported, openedAt: 1 }))
      .thenNothing();
    given([opened()])
      .when(observe({ openedAt: 1 }))
      .thenNothing();
  });

  test('is matched once its payment is known', () =>
    given([opened()]).when(observe({}, { payment })).then([match]));

  test('may change and be matched at once', () =>
    given([opened()])
      .when(observe({ status: 'declined' }, { payment }))
      .then([changed({ status: 'declined' }), match]));

  test('stays with its matched payment', () => {
    const other = { token: 'pay_2', team: 'other' };
    given([opened(), match])
      .when(observe({}, { payment: other }))
      .thenNothing();
    given([opened({ team: 'shop', paymentToken: 'pay_1' })])
      .when(observe({}, { payment: other }))
      .thenNothing();
    given([opened(), match]).when(observe()).thenNothing();
  });

  test.each([
    observe({ id: '18' }),
    observe({}, { account: 'other' }),
    observe({}, { environment: 'production' }),
  ])('on the stream of another one is a broken invariant (%#)', (command) => {
    expect(() => decideDispute(evolveDispute(undefined, opened()), command)).toThrow(
      new InvariantViolation('a dispute was observed on the stream of another one'),
    );
  });
});

describe('an invalid dispute is refused, new or known', () => {
  test.each([0, -1, 0.5, Number.NaN, 2 ** 53])('%d is not a valid amount', (amount) => {
    given([]).when(observe({ amount })).thenRefused('dispute_amount_invalid');
    given([opened()]).when(observe({ amount })).thenRefused('dispute_amount_invalid');
  });

  test.each(['eur', '', 'XXQ'])('%j is not a currency', (currency) =>
    given([]).when(observe({ currency })).thenRefused('dispute_currency_invalid'),
  );
});

describe('texts of the provider', () => {
  test.each(['pending', 'approved', 'declined', 'chargeback_won', 'état', ''])(
    'the status %j is kept as it is, known or not',
    (status) =>
      given([])
        .when(observe({ status }))
        .then([opened({ status })]),
  );

  test('are cut to a length that can be read back', () => {
    const long = 'x'.repeat(5_000);
    const texts = { id: long, status: long, type: long, reasonCode: long, comment: long };
    const decision = decideDispute(undefined, observe(texts));
    if (decision.kind === 'refused') throw new Error(decision.refusal.code);
    for (const event of decision.events) expect(decodeDisputeEvent(event)).toEqual(event);
    given(decision.events).when(observe(texts)).thenNothing();
  });

  const card = '4392963203551251';
  const masked = '439296******1251';
  test('that contain a card number are masked', () =>
    given([])
      .when(observe({ status: card, type: card, reasonCode: `x ${card}`, comment: `paid by ${card} in May` }))
      .then([
        opened({
          status: masked,
          type: masked,
          reasonCode: `x ${masked}`,
          comment: `paid by ${masked} in May`,
        }),
      ]));

  test('are masked before the cut, which could leave most digits of a card number', () => {
    const status = `${'x'.repeat(87)} ${card}`;
    given([])
      .when(observe({ status }))
      .then([opened({ status: `${'x'.repeat(87)} ${masked}`.slice(0, 100) })]);
  });

  test('are masked again after the cut, which could create a card number', () => {
    // Twenty digits are not a card number; the first sixteen of them are.
    const status = `${'x'.repeat(84)}${card}1234`;
    given([])
      .when(observe({ status }))
      .then([opened({ status: `${'x'.repeat(84)}${masked}` })]);
  });

  test('an id that looks like a card number is masked for display, and still identifies the dispute', () => {
    const shown = opened({ id: masked });
    given([])
      .when(observe({ id: card }))
      .then([shown]);
    given([shown])
      .when(observe({ id: card, status: 'approved' }))
      .then([changed({ status: 'approved' })]);
  });

  test('random texts: no recorded text contains a card number, and all of it can be read back', () => {
    const text = fc.oneof(
      fc.string(),
      fc
        .tuple(fc.string(), fc.constantFrom(card, '4392 9632 0355 1251'), fc.string())
        .map((parts) => parts.join('')),
    );
    const texts = fc.record({ id: text, status: text, type: text, reasonCode: text, comment: text });
    fc.assert(
      fc.property(texts, (all) => {
        const decision = decideDispute(undefined, observe(all));
        if (decision.kind === 'refused') throw new Error(decision.refusal.code);
        for (const event of decision.events) {
          expect(decodeDisputeEvent(event)).toEqual(event);
          for (const value of Object.values(event.data))
            expect(containsCardNumber(String(value))).toBe(false);
        }
      }),
      { numRuns: propertyRuns(500) },
    );
  });
});

test.each([Number.NaN, -1, 0.5, 8.7e15])('%d is not a valid opening time', (openedAt) =>
  given([]).when(observe({ openedAt })).then([opened()]),
);

describe('the stream of a dispute', () => {
  test('begins with DisputeOpened, once', () => {
    for (const event of [changed({ status: 'approved' }), match])
      expect(() => evolveDispute(undefined, event)).toThrow(
        new InvariantViolation(`${event.type} came before DisputeOpened`),
      );
    expect(() => evolveDispute(evolveDispute(undefined, opened()), opened())).toThrow(
      new InvariantViolation('DisputeOpened was recorded twice'),
    );
  });

  test('is named by its token', () => {
    expect(disputeStream('dsp_1')).toBe('dispute-dsp_1');
  });

  test.each(['DisputeLost', '', 'constructor', '__proto__'])(
    'is not readable past an event of the unknown type %j',
    (type) => {
      expect(() => decodeDisputeEvent({ type, data: {} })).toThrow(RangeError);
    },
  );

  test.each([{ amount: 0 }, { currency: 'eur' }, { status: 'x'.repeat(101) }, { environment: 'test' }])(
    'is not readable if an event has %j',
    (wrong) => {
      const { type, data } = opened(reported);
      expect(() => decodeDisputeEvent({ type, data: { ...data, ...wrong } })).toThrow();
    },
  );
});

const histories = { 'v1 matched': matched, 'v1 matched later': matchedLater };

test.each(Object.entries(histories))('the history "%s" is replayed to its dispute', (_, history) => {
  const events = (history.events as { type: string; data: unknown }[]).map(decodeDisputeEvent);
  expect(events.reduce<Dispute | undefined>(evolveDispute, undefined)).toEqual(history.expected);
});

test('the histories cover every event type', () => {
  const types = new Set(Object.values(histories).flatMap(({ events }) => events.map(({ type }) => type)));
  expect([...types].sort()).toEqual(Object.keys(disputeEventSchemas).sort());
});

test('any data in the store is read as an event, or refused with a specific error', () => {
  const type = fc.oneof(
    fc.constantFrom(...Object.keys(disputeEventSchemas), '__proto__', 'constructor', ''),
    fc.string(),
  );
  const data = fc.oneof(
    fc.dictionary(fc.constantFrom('amount', 'status', 'team'), fc.jsonValue()),
    fc.jsonValue(),
  );
  fc.assert(
    fc.property(type, data, (stored, value) => {
      try {
        expect(decodeDisputeEvent({ type: stored, data: value }).type).toBe(stored);
      } catch (error) {
        if (!(error instanceof z.ZodError || error instanceof RangeError)) throw error;
      }
    }),
    { numRuns: propertyRuns(1_000) },
  );
});
