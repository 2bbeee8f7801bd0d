/**
 * The booking rule, as a hash of its results for sample events. Sums of another rule are not used: the index has the hash in
 * its form, and is rebuilt.
 */
import { createHash } from 'node:crypto';
import { entriesOf, firstSchemaVersion, type Standing } from '@tollgate/core';
import type { RecordedEvent } from '@tollgate/event-store';
import type { ViewEnvelope, ViewKind } from './view-kind.ts';

const call = { sendBy: 1, answerBy: 2, quietUntil: 3 };
const owner = { environment: 'sandbox', team: 'shop', wallet: 'team-shop', askedBy: 'key' };
const destination = { kind: 'bankAccount', bankName: 'A bank', accountEnding: '2051' };
const side = {
  status: 'approved',
  amount: 1000,
  currency: 'EUR',
  refundedAmount: 0,
  authorizedAmount: 0,
  orderNumber: null,
};
const differs = (operation: 'payment' | 'payout', amount: number) => ({
  type: 'ReviewOpened',
  data: {
    code: 'discrepancy',
    evidence: {},
    discrepancy: {
      kind: 'terms_disagree',
      operation,
      serviceToken: 'token',
      ours: side,
      theirs: { ...side, amount },
    },
  },
});
const kept = (number: number, releases?: true) => ({
  type: 'ReviewResolved',
  data: {
    code: 'discrepancy',
    number,
    resolution: 'keep_ours',
    reason: 'r',
    ...(releases === undefined ? {} : { releases }),
  },
});
const refunding = (refundToken: string, amount: number) => ({
  type: 'RefundSubmitted',
  data: { refundToken, amount, askedBy: 'key', askedAt: 0, fingerprint: 'f', ...call },
});

/** By kind of view: every event that moves money. */
export const ledgerSamples: Readonly<Record<string, readonly { type: string; data: object }[]>> = {
  payment: [
    {
      type: 'PaymentRequested',
      data: {
        ...owner,
        terms: { kind: 'hosted', product: 'Tea', amount: 1000, currency: 'EUR', needConfirmation: false },
        fingerprint: 'f',
        attempt: { number: 1, account: 'main', providerOrderNumber: 'o', ...call },
      },
    },
    { type: 'AttemptAccepted', data: { attemptNumber: 1, serviceToken: 'token', evidence: 'answer' } },
    { type: 'PaymentApproved', data: { amount: 1000 } },
    refunding('one', 300),
    { type: 'RefundApproved', data: { refundToken: 'one' } },
    refunding('two', 200),
    { type: 'RefundDeclined', data: { refundToken: 'two', errors: [], reason: 'refused' } },
    { type: 'ExternalRefundObserved', data: { amount: 50 } },
    differs('payment', 900),
    kept(1),
    differs('payment', 700),
    kept(2, true),
    { type: 'FinalStatusRevised', data: { from: 'approved', to: 'declined' } },
  ],
  payout: [
    {
      type: 'PayoutRequested',
      data: {
        ...owner,
        terms: { amount: 400, currency: 'EUR', orderNumber: 'p', destination },
        fingerprint: 'f',
        call: { account: 'main', providerOrderNumber: 'p', ...call },
      },
    },
    { type: 'PayoutAccepted', data: { serviceToken: 'token', evidence: 'answer' } },
    { type: 'PayoutApproved', data: {} },
    differs('payout', 450),
    kept(1, true),
    { type: 'FinalStatusRevised', data: { from: 'approved', to: 'declined' } },
  ],
  transfer: [
    {
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
    },
  ],
};

/** Hexadecimal. @throws what the fold throws */
export function ledgerRuleOf(kinds: readonly ViewKind[]): string {
  const entries = kinds.flatMap((kind) => sampleEntriesOf(kind, ledgerSamples[kind.name] ?? []));
  const text = JSON.stringify(entries, (_, value: unknown) =>
    typeof value === 'bigint' ? String(value) : value,
  );
  return createHash('sha256').update(text).digest('hex').slice(0, 16);
}

function sampleEntriesOf(kind: ViewKind, samples: readonly { type: string; data: object }[]) {
  let view: ViewEnvelope | undefined;
  let standings: readonly Standing[] = [];
  return samples.map(({ type, data }, revision) => {
    const metadata = { schemaVersion: firstSchemaVersion, recordedAt: 0 };
    const stored = { type, data, metadata, revision, position: '0'.repeat(16), id: '', recordedAt: 0 };
    view = kind.fold(view, { ...stored, stream: `${kind.streamPrefix}sample` } as unknown as RecordedEvent);
    const before = standings;
    standings = kind.standingsOf?.(view) ?? [];
    return entriesOf(before, standings);
  });
}
