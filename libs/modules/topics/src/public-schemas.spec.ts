/** The schemas of the AsyncAPI document match the published records exactly: no field more, and none less. */
import { type RecordSubject, decodeGatewayRecord } from '@tollgate/gateway-api';
import { headersSchema, eventTopics } from '@tollgate/gateway-api/asyncapi';
import {
  type PaymentEvent,
  type PayoutEvent,
  reviewCodes,
  evolve,
  evolvePayout,
  paymentEventSchemas,
  paymentStream,
  payoutReviewCodes,
  payoutEventSchemas,
  payoutStream,
} from '@tollgate/core';
import type { ViewEnvelope } from '@tollgate/views';
import {
  type AnyEvent,
  adopted,
  disputeHappening,
  disputeOpened,
  happening,
  historiesOf,
  payoutApprovalRequested,
  payoutHappening,
  payoutRequested,
  requested,
  startedAt,
  toRecordedIn,
} from '@tollgate/views/testing';
import { propertyRuns } from '@tollgate/testing';
import fc from 'fast-check';
import { beforeAll, describe, expect, it } from 'vitest';
import { type DisputeEvent, disputeEventSchemas, disputeStream, evolveDispute } from '@tollgate/books';
import { publishedKinds } from './topic-records.ts';

const metadata = { order: '4711' };
const request = requested({ metadata, orderNumber: 'order-1', recurring: true, recurringToken: 'rec_1' });
if (request.type !== 'PaymentRequested') throw new Error('another event');
const addresses = { callbackUrl: 'https://shop.example/a', redirectSuccessUrl: 'https://shop.example/b' };
const sanitizedMask = '439296******1251';
const resolved = { reason: 'resolved' } as const;
const word = { number: 1, resolution: 'acknowledged', reason: 'Checked with the bank.' };

/** An event with every optional field, in place of samples without them. */
const fullPaymentEvents: readonly PaymentEvent[] = [
  { type: 'PaymentDeclined', data: { declineReason: 'insufficient funds', sanitizedMask } },
  {
    type: 'FinalStatusRevised',
    data: { from: 'declined', to: 'approved', amount: 5, declineReason: 'none', serviceToken: 'token-1' },
  },
  { type: 'PaymentVoided', data: { sanitizedMask } },
  { ...happening.refunding, data: { ...happening.refunding.data, metadata } },
  { type: 'CaptureRefused', data: { errors: [], ...resolved } },
  { type: 'VoidRefused', data: { errors: [], ...resolved } },
  { type: 'RefundDeclined', data: { refundToken: 'ref_1', errors: [], ...resolved } },
  { type: 'ReviewResolved', data: { code: 'discrepancy', ...word } },
];

const paymentEvents = [...Object.values<PaymentEvent>(happening), ...fullPaymentEvents];
const captureOrVoids = paymentEvents.filter(({ type }) =>
  /^(AttemptAccepted|PaymentAuthorized|PaymentVoided|(Capture|Void)(Submitted|Refused|Unresolved))$/.test(
    type,
  ),
);
const refunds = paymentEvents.filter(({ type }) => /^(AttemptAccepted|PaymentApproved|Refund.*)$/.test(type));

const creations = paymentEvents.filter(({ type }) => /^(Attempt.*|PaymentFailed)$/.test(type));

const { data: adoption } = adopted();
const fullAdoption: PaymentEvent = {
  type: 'PaymentAdopted',
  data: {
    ...adoption,
    refundedAmount: 0,
    recurringToken: 'rec_1',
    terms: { ...adoption.terms, metadata, callbackUrl: addresses.callbackUrl, recurring: true },
  },
};

// With all events at once, those that take several steps would hardly ever be reached.
const anyPayment = fc.oneof(
  historiesOf<ReturnType<typeof evolve>, PaymentEvent>(fullAdoption, paymentEvents, evolve),
  ...[paymentEvents, creations, captureOrVoids, refunds].map((candidates) =>
    historiesOf<ReturnType<typeof evolve>, PaymentEvent>(
      {
        ...request,
        data: { ...request.data, terms: { ...request.data.terms, ...addresses, locale: 'de' } },
      },
      candidates,
      evolve,
    ),
  ),
);

function anyPayout(
  destination: Extract<PayoutEvent, { type: 'PayoutRequested' }>['data']['terms']['destination'],
) {
  const first = payoutRequested();
  if (first.type !== 'PayoutRequested') throw new Error('another event');
  const terms = { ...first.data.terms, metadata, destination, callbackUrl: 'https://shop.example/a' };
  const revised: PayoutEvent = {
    type: 'FinalStatusRevised',
    data: { from: 'approved', to: 'declined', declineReason: 'returned', serviceToken: 'token-1' },
  };
  const later: PayoutEvent[] = [
    ...Object.values<PayoutEvent>(payoutHappening),
    revised,
    { type: 'ReviewResolved', data: { code: 'discrepancy', ...word } },
  ];
  const requestedAtOnce: PayoutEvent = { ...first, data: { ...first.data, terms } };
  const waiting = payoutApprovalRequested();
  if (waiting.type !== 'PayoutApprovalRequested') throw new Error('another event');
  const asked: PayoutEvent = { ...waiting, data: { ...waiting.data, terms } };
  return fc.oneof(
    historiesOf<ReturnType<typeof evolvePayout>, PayoutEvent>(requestedAtOnce, later, evolvePayout),
    historiesOf<ReturnType<typeof evolvePayout>, PayoutEvent>(
      asked,
      [requestedAtOnce, ...later],
      evolvePayout,
    ),
  );
}

const facts = { amount: 7, currency: 'USD', type: 'retrieval', reasonCode: '1', comment: 'see the letter' };
const opened = disputeOpened({ openedAt: startedAt, team: 'shop', paymentToken: 'pay_1' });
const anyDispute = fc.oneof(
  ...[{ ...opened, data: { ...opened.data, comment: 'new' } } as DisputeEvent, disputeOpened()].map((first) =>
    historiesOf<ReturnType<typeof evolveDispute>, DisputeEvent>(
      first,
      [
        ...Object.values<DisputeEvent>(disputeHappening),
        { type: 'DisputeChanged', data: { status: 'won', ...facts } },
      ],
      evolveDispute,
    ),
  ),
);

const histories: Record<RecordSubject, { stream: string; any: fc.Arbitrary<AnyEvent[]> }> = {
  payment: { stream: paymentStream('pay_1'), any: anyPayment },
  payout: {
    stream: payoutStream('po_1'),
    any: fc.oneof(
      anyPayout({ kind: 'card', sanitizedMask: '****2639' }),
      anyPayout({ kind: 'recurring', recurringToken: 'rec_1' }),
      anyPayout({ kind: 'bankAccount', bankName: 'Bank', accountEnding: '1234' }),
    ),
  },
  dispute: { stream: disputeStream('dsp_1'), any: anyDispute },
};
const eventSchemas = {
  payment: paymentEventSchemas,
  payout: payoutEventSchemas,
  dispute: disputeEventSchemas,
};

/** The publisher's records of a history. */
function* recordsOf(subject: RecordSubject, events: readonly AnyEvent[]) {
  const kind = publishedKinds.find(({ views }) => views.name === subject);
  if (kind === undefined) throw new Error(`${subject} is not published`);
  let view: ViewEnvelope | undefined;
  for (const recorded of toRecordedIn(histories[subject].stream, events)) {
    view = kind.views.fold(view, recorded);
    yield { type: recorded.type, topic: kind.topic, message: kind.toMessage(recorded, view) };
  }
}

interface Value {
  event: { data: Record<string, unknown> };
  [subject: string]: Record<string, unknown>;
}
const valueOf = ({ value }: { value: Uint8Array }): Value => JSON.parse(new TextDecoder().decode(value));

describe.each(eventTopics)('$topic', ({ topic, subject, subjectSchema, messages }) => {
  const byEvent = new Map(messages.map((message) => [message.event, message]));
  /** Observed fields in the data of each event, and `phase` after it; under the subject, its own fields. */
  const seen = new Map<string, Set<string>>();
  const see = (name: string, ...values: string[]) =>
    seen.set(name, new Set([...(seen.get(name) ?? []), ...values]));

  it('has exactly the events of the domain', () => {
    expect([...byEvent.keys()].toSorted()).toEqual(Object.keys(eventSchemas[subject]).toSorted());
  });

  // A fixed seed: the rules below require every event in the histories.
  beforeAll(() => {
    for (const events of fc.sample(histories[subject].any, { numRuns: 2_000, seed: 1 }))
      for (const record of recordsOf(subject, events)) {
        const value = valueOf(record.message);
        see(record.type, ...Object.keys(value.event.data));
        see(`${record.type} phases`, String(value[subject]?.['phase']));
        see(subject, ...Object.keys(value[subject] ?? {}));
      }
  });

  it('has records that match their schemas exactly, and are decoded as written', () => {
    fc.assert(
      fc.property(histories[subject].any, (events) => {
        for (const record of recordsOf(subject, events)) {
          const message = byEvent.get(record.type);
          expect(record.topic).toBe(topic);
          expect(message?.schema.parse(valueOf(record.message))).toEqual(valueOf(record.message));
          expect(headersSchema.strict().parse(record.message.headers)).toEqual(record.message.headers);
          expect(record.message.headers['ce_type']).toBe(message?.type);
          expect(decodeGatewayRecord(record.message)).toEqual({ kind: subject, ...valueOf(record.message) });
        }
      }),
      { numRuns: propertyRuns(50) },
    );
  });

  it('has every field that its schemas name', () => {
    for (const { event, schema } of messages) {
      const { data } = (schema as unknown as { shape: { event: { shape: { data: { shape: object } } } } })
        .shape.event.shape;
      expect([...(seen.get(event) ?? [])].toSorted(), event).toEqual(Object.keys(data.shape).toSorted());
    }
    const { shape } = subjectSchema as unknown as { shape: object };
    expect([...(seen.get(subject) ?? [])].toSorted()).toEqual(Object.keys(shape).toSorted());
  });

  it('has examples in a phase that their event leads to', () => {
    for (const { event, example } of messages)
      if (example !== undefined)
        expect([...(seen.get(`${event} phases`) ?? [])], event).toContain(
          String(valueOf(example)[subject]?.['phase']),
        );
  });
});

it('AsyncAPI lists every review code', () => {
  const codes = { payment: reviewCodes, payout: payoutReviewCodes, dispute: [] };
  for (const { subject, messages } of eventTopics)
    for (const { event, schema } of messages)
      if (event.startsWith('Review'))
        for (const code of codes[subject])
          expect(JSON.stringify(schema.toJSONSchema())).toContain(`\`${code}\``);
});
