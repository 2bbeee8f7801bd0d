import { temporaryStore } from '@tollgate/event-store/testing';
import { createPaymentIndex } from '@tollgate/lists';
import { appendPayment, happening, planted, requested } from '@tollgate/views/testing';
import { type PaymentEvent } from '@tollgate/core';
import { silentLog, systemClock, systemIds } from '@tollgate/service-kit';
import { expect, onTestFinished, test, vi } from 'vitest';
import { projected, soon, startProjector } from './testing/projected.ts';

const { accepted, approved, refunding } = happening;

/**
 * A provider refused 500 refunds of a payment with long errors, and the view stored all errors until the store rejected it.
 * Then 1,000 of 1,500 were refunded, and the balance still had them: a payout could have used them again.
 */
test.each([
  ['500 refunds refused with 2 KB of errors each', 500, 4, 450],
  ['15 refunds refused with 50 errors of 500 characters of three bytes', 15, 50, 500],
])(
  'a payment keeps its view up to date, and the team its position: %s',
  async (_, refunds, count, length) => {
    const store = await temporaryStore();
    const errors = Array.from({ length: count }, (_each, number) => ({
      code: `processing_${number}`,
      kind: 'processing_error',
      message: (refunds === 15 ? '錯' : 'x').repeat(length),
    }));
    await appendPayment(store, 'p1', [requested(), accepted, approved]);
    for (let number = 0; number < refunds; number += 1) {
      const refundToken = `ref_${number}`;
      await appendPayment(store, 'p1', [
        { ...refunding, data: { ...refunding.data, refundToken } },
        { type: 'RefundDeclined', data: { refundToken, reason: 'refused', errors } },
      ] as PaymentEvent[]);
    }
    const projector = startProjector(store);
    await projected(store, projector);
    const index = createPaymentIndex({
      file: ':memory:',
      store,
      log: silentLog,
      clock: systemClock,
      ids: systemIds,
    });
    onTestFinished(() => index.stop());
    await index.start();
    // Then one that is made: 1,000 of the 1,500 are refunded, and 500 are left.
    const refundToken = 'ref_made';
    const { position } = await appendPayment(store, 'p1', [
      { ...refunding, data: { ...refunding.data, refundToken, amount: 1_000 } },
      { type: 'RefundApproved', data: { refundToken, serviceRefundToken: 's' } },
    ] as PaymentEvent[]);
    await vi.waitFor(() => expect(projector.health().position >= position).toBe(true), soon);
    await vi.waitFor(() => expect(index.position() >= position).toBe(true), soon);
    const ledger = await index.readLedger({
      environment: 'sandbox',
      wallet: 'team-shop',
      currency: 'EUR',
      commands: [],
      spent: [],
    });
    expect({
      failed: projector.health().failedStreams,
      refunded: index.find('p1')?.payment.refundedAmount,
      available: ledger.byAccount.get(`account-${planted}`)?.available,
    }).toEqual({ failed: [], refunded: 1_000, available: 500n });
  },
);
