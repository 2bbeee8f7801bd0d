/** A refund by its own token. It is part of a payment; what its idempotency key was used for tells which one. */
import type { EventStore } from '@tollgate/event-store';
import { refundKeyStream, refundKeyUsedSchema, type RefundKey } from '@tollgate/payment-domain';
import { isOwnedBy, isToken, type Caller } from '@tollgate/teams';
import { toPublicRefund, type PaymentView, type PublicRefund } from '@tollgate/views';
import type { OwnViews } from './own-views.ts';

export type ShownRefund = PublicRefund & { paymentToken: string };

/** Undefined where the caller has no such refund, also where its key was used and the refund was refused at once. */
export async function findRefund(
  { store, own }: { store: EventStore; own: OwnViews },
  caller: Caller,
  refundToken: string,
): Promise<ShownRefund | undefined> {
  const key = isToken(refundToken) ? await readKey(store, refundToken) : undefined;
  if (key === undefined || !isOwnedBy(key, caller)) return undefined;
  const { paymentToken } = key;
  return (
    refundIn(await own.payment(caller, paymentToken), refundToken) ??
    // The index may know the payment from before the refund.
    refundIn(await own.latestPayment(caller, paymentToken), refundToken)
  );
}

async function readKey(store: EventStore, refundToken: string): Promise<RefundKey | undefined> {
  for await (const { data } of store.read(refundKeyStream(refundToken), { limit: 1 }))
    return refundKeyUsedSchema.parse(data);
  return undefined;
}

function refundIn(view: PaymentView | undefined, refundToken: string): ShownRefund | undefined {
  const refund = view?.payment.refunds.find((each) => each.refundToken === refundToken);
  if (view === undefined || refund === undefined) return undefined;
  return { ...toPublicRefund(refund, view.payment.terms.currency), paymentToken: view.token };
}
