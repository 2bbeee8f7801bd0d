/** A refund by its own token. It is part of a payment, which the record of its idempotency key names. */
import type { EventStore, Position } from '@tollgate/event-store';
import { refundKeyStream, refundKeyUsedSchema, type RefundKey, isOwnedBy, isToken } from '@tollgate/core';
import { type Caller } from '@tollgate/teams';
import { toPublicRefund, type PublicRefund } from '@tollgate/gateway-api';
import type { PaymentView } from '@tollgate/views';
import type { OwnViews } from './own-views.ts';

interface FoundRefund {
  refund: PublicRefund;
  /** Of the last event of its payment. */
  position: Position;
}

/** Undefined if the caller has no such refund, also if its key was used and the refund was refused at once. */
export async function findRefund(
  { store, own }: { store: EventStore; own: OwnViews },
  caller: Caller,
  refundToken: string,
): Promise<FoundRefund | undefined> {
  const key = isToken(refundToken) ? await readKey(store, refundToken) : undefined;
  if (key === undefined || !isOwnedBy(key, caller)) return undefined;
  const { paymentToken } = key;
  return (
    refundIn(await own.payment(caller, paymentToken), refundToken) ??
    // The index may have the payment as of before the refund.
    refundIn(await own.latestPayment(caller, paymentToken), refundToken)
  );
}

async function readKey(store: EventStore, refundToken: string): Promise<RefundKey | undefined> {
  for await (const { data } of store.read(refundKeyStream(refundToken), { limit: 1 }))
    return refundKeyUsedSchema.parse(data);
  return undefined;
}

function refundIn(view: PaymentView | undefined, refundToken: string): FoundRefund | undefined {
  const refund = view?.payment.refunds.find((each) => each.refundToken === refundToken);
  return view && refund && { refund: toPublicRefund(refund, view), position: view.position };
}
