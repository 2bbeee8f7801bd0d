import { StoreUnavailable, type RecordedEvent } from '@tollgate/event-store';
import { decodeDisputeRecord, decodePaymentRecord, decodePayoutRecord } from '@tollgate/gateway-api';
import { paymentEventSchemas, payoutEventSchemas } from '@tollgate/core';
import type { ViewEnvelope } from '@tollgate/views';
import {
  type AnyEvent,
  anyDisputeHistory,
  anyHistory,
  anyPayoutHistory,
  disputeHappening,
  disputeOpened,
  payoutRequested,
  planted,
  requested,
  toRecordedIn,
} from '@tollgate/views/testing';
import { propertyRuns } from '@tollgate/testing';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { disputeEventSchemas } from '@tollgate/books';
import { createRecordOf, publishedStream } from './topic-records.ts';

const kinds: [string, fc.Arbitrary<AnyEvent[]>, object, (record: never) => { kind: string }][] = [
  ['payment', anyHistory, paymentEventSchemas, decodePaymentRecord],
  ['payout', anyPayoutHistory, payoutEventSchemas, decodePayoutRecord],
  ['dispute', anyDisputeHistory, disputeEventSchemas, decodeDisputeRecord],
];

/** The records of a history, and all their text. */
function recordsOf(stream: string, history: readonly AnyEvent[]) {
  const { kind } = publishedStream(stream)!;
  let view: ViewEnvelope | undefined;
  const records = toRecordedIn(stream, history).map((event) => {
    view = kind.views.fold(view, event);
    return kind.toMessage(event, view);
  });
  const text = records
    .map(({ value, headers }) => new TextDecoder().decode(value) + JSON.stringify(headers))
    .join();
  return { records, text };
}

describe.each(kinds)('the records of any %s', (name, histories, schemas, decode) => {
  it('can be read back, have the token as their key, and are numbered without a gap', () => {
    fc.assert(
      fc.property(histories, (history) => {
        const { records } = recordsOf(`${name}-x_1`, history);
        expect(records.map((record) => decode(record as never).kind)).toEqual(history.map(() => 'record'));
        expect(records.map(({ key }) => key)).toEqual(history.map(() => 'x_1'));
        const sequences = records.map(({ headers }) => headers['ce_sequence'] ?? '');
        expect(sequences.map(Number)).toEqual(history.map((_, at) => at));
        // Ordered as text too, as the CloudEvents extension requires: `10` came before `9`.
        expect(sequences.toSorted()).toEqual(sequences);
      }),
      { numRuns: propertyRuns(300) },
    );
  });

  it('contain no account, fingerprint, provider token, customer, key or URL', () => {
    fc.assert(
      fc.property(histories, (history) => {
        const { text } = recordsOf(`${name}-x_1`, history);
        expect(text).not.toContain(planted);
        expect(text).not.toMatch(/https?:|"k1"|fingerprint|account"|serviceToken":"[^…]/);
      }),
      { numRuns: propertyRuns(300) },
    );
  });

  it('have data for every type of event', () => {
    const types = new Set(
      fc
        .sample(histories, { numRuns: 5_000, seed: 1 })
        .flat()
        .map(({ type }) => type),
    );
    expect([...types].sort()).toEqual(Object.keys(schemas).sort());
  });
});

it('URLs of the team stay with the team', () => {
  const { type, data } = requested() as AnyEvent & { data: { terms: object } };
  const terms = {
    ...data.terms,
    callbackUrl: 'https://team.example/secret',
    redirectSuccessUrl: 'https://team.example/s',
    redirectFailUrl: 'https://team.example/f',
  };
  const { text } = recordsOf('payment-pay_1', [{ type, data: { ...data, terms } }]);
  expect(text).not.toContain('team.example');
  const payout = payoutRequested() as AnyEvent & { data: { terms: object } };
  const payoutTerms = { ...payout.data.terms, callbackUrl: 'https://team.example/secret' };
  const event = { type: payout.type, data: { ...payout.data, terms: payoutTerms } };
  expect(recordsOf('payout-po_1', [event]).text).not.toContain('team.example');
});

it('the event of a dispute has its change, and never reveals the team by its account', () => {
  const opened = disputeOpened({ openedAt: 0, paymentToken: 'pay_7', team: 'shop' });
  const { records } = recordsOf('dispute-dsp_1', [opened, disputeHappening.changed]);
  const data = records.map((record) => {
    const decoded = decodeDisputeRecord(record);
    return decoded.kind === 'record' ? decoded.record.event.data : decoded;
  });
  expect(data).toEqual([
    {
      amount: 1_500,
      currency: 'EUR',
      status: 'open',
      reportedStatus: 'open',
      type: 'chargeback',
      reasonCode: '10.4',
      paymentToken: 'pay_7',
      openedAt: '1970-01-01T00:00:00.000Z',
    },
    { status: 'lost', reportedStatus: 'lost', comment: 'no answer' },
  ]);
});

it('an unavailable store does not quarantine the stream', async () => {
  const events = toRecordedIn('payment-pay_1', fc.sample(anyHistory, 1)[0]!);
  const read = () => {
    throw new StoreUnavailable('store_busy', 'busy');
  };
  const later = { ...events[0]!, revision: 1 } as RecordedEvent;
  await expect(createRecordOf({ read })(later)).rejects.toThrow(StoreUnavailable);
});

it('no other kind of stream is published', () => {
  for (const stream of ['view_payment-pay_1', 'refund-ref_1', 'team-shop', 'bus-gateway.payments.v1:0'])
    expect(publishedStream(stream)).toBeUndefined();
});
