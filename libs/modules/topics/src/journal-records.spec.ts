import { decodeGatewayRecord, decodeJournalRecord, gatewayJournalTopic, toIso } from '@tollgate/gateway-api';
import { headersSchema } from '@tollgate/gateway-api/asyncapi';
import type { RecordedEvent } from '@tollgate/event-store';
import { kindOfStream, type ViewEnvelope } from '@tollgate/views';
import {
  type AnyEvent,
  anyHistory,
  anyPayoutHistory,
  toRecordedIn,
  walletTransferred,
} from '@tollgate/views/testing';
import { propertyRuns } from '@tollgate/testing';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { recordsOfStep } from './topic-records.ts';

/** The journal records of a history, with the event of each. */
function journalOf(stream: string, history: readonly AnyEvent[]) {
  const kind = kindOfStream(stream)!;
  let before: ViewEnvelope | undefined;
  return toRecordedIn(stream, history).flatMap((event) => {
    const after = kind.fold(before, event);
    const records = recordsOfStep(event, { before, after }).filter(
      ({ topic }) => topic === gatewayJournalTopic,
    );
    before = after;
    return records.map((record) => ({ record, event }));
  });
}

const entryOf = ({ record }: { record: Parameters<typeof decodeJournalRecord>[0]; event: RecordedEvent }) => {
  const decoded = decodeJournalRecord(record);
  if (decoded.kind !== 'record') throw new Error(decoded.reason);
  return decoded.record.entry;
};

it('every entry of any history sums to zero, names its event, and has its wallet as its key', () => {
  const histories = fc.oneof(
    anyHistory.map((history) => ({ stream: 'payment-x_1', history })),
    anyPayoutHistory.map((history) => ({ stream: 'payout-x_1', history })),
    fc.constant({ stream: 'transfer-x_1', history: [walletTransferred] }),
  );
  fc.assert(
    fc.property(histories, ({ stream, history }) => {
      for (const each of journalOf(stream, history)) {
        const { record, event } = each;
        const entry = entryOf(each);
        expect(entry.postings.reduce((sum, { amount }) => sum + amount, 0)).toBe(0);
        expect(entry.postings.length).toBeGreaterThan(1);
        expect(record.key).toBe(`${entry.environment}/${entry.account}/${entry.wallet}`);
        expect(entry.id).toMatch(new RegExp(`^${event.id}\\.\\d$`));
        expect([entry.eventType, entry.token]).toEqual([event.type, 'x_1']);
        expect(headersSchema.strict().parse(record.headers)).toEqual(record.headers);
        expect(decodeGatewayRecord(record)).toEqual({ kind: 'journal', entry });
      }
    }),
    { numRuns: propertyRuns(300) },
  );
});

it('a transfer has an entry in either wallet, at separate positions', () => {
  const entries = journalOf('transfer-tr_1', [walletTransferred]);
  const [event] = entries.map((each) => each.event);
  expect(entries.map(({ record }) => record.headers['tollgate_position'])).toEqual([
    `${event?.position}~0`,
    `${event?.position}~1`,
  ]);
  expect(entries.map(({ record }) => record.key)).toEqual([
    'sandbox/main/team-shop',
    'sandbox/main/wallet-both',
  ]);
  expect(entries.map(entryOf)).toMatchObject([
    {
      id: `${event?.id}.0`,
      kind: 'transfer',
      eventType: 'WalletTransferred',
      team: 'shop',
      time: toIso((event?.metadata as { recordedAt: number }).recordedAt),
      currency: 'EUR',
      postings: [
        { ledgerAccount: 'available', amount: -100 },
        { ledgerAccount: 'transferred', amount: 100 },
      ],
    },
    {
      id: `${event?.id}.1`,
      wallet: 'wallet-both',
      postings: [
        { ledgerAccount: 'available', amount: 100 },
        { ledgerAccount: 'transferred', amount: -100 },
      ],
    },
  ]);
  expect(entries.map((each) => entryOf(each).team)).toEqual(['shop', undefined]);
});
