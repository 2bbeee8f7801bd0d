/** What a person types into one box: which payments may be meant, and why. */
import type { EventStore } from '@tollgate/event-store';
import { refundKeyStream, refundKeyUsedSchema } from '@tollgate/payment-domain';
import { isToken } from '@tollgate/teams';
import { type PaymentView, foldStream, paymentKind } from '@tollgate/views';
import type { ListOwner, PaymentIndex } from '@tollgate/view-index';

interface Hit {
  why: 'token' | 'refund' | 'order-number' | 'mask';
  view: PaymentView;
}

const hitsMax = 20;

export async function searchPayments(
  { store, index }: { store: EventStore; index: PaymentIndex },
  owners: readonly ListOwner[],
  text: string,
): Promise<Hit[]> {
  const byToken = await findByToken(store, text);
  if (byToken !== undefined) return [byToken];
  const listed = (more: Partial<Parameters<PaymentIndex['listPaymentsOfAll']>[0]>): PaymentView[] => {
    const list = index.listPaymentsOfAll({ owners, perPage: hitsMax, ...more });
    return list.kind === 'page' ? list.views : [];
  };
  const byOrder = listed({ orderNumber: text }).map((view) => ({ why: 'order-number' as const, view }));
  const lastDigits = /^(?:\d{4,6})?[*•…. ]{1,}(\d{4})$/.exec(text)?.[1];
  if (byOrder.length > 0 || lastDigits === undefined) return byOrder;
  const accepts = ({ payment }: PaymentView) => payment.sanitizedMask?.endsWith(lastDigits) === true;
  return listed({ accepts }).map((view) => ({ why: 'mask' as const, view }));
}

async function findByToken(store: EventStore, text: string): Promise<Hit | undefined> {
  if (!isToken(text)) return undefined;
  const view = await foldStream(store, paymentKind, text);
  if (view !== undefined) return { why: 'token', view };
  for await (const { data } of store.read(refundKeyStream(text), { limit: 1 })) {
    const { paymentToken } = refundKeyUsedSchema.parse(data);
    const refunded = await foldStream(store, paymentKind, paymentToken);
    return refunded === undefined ? undefined : { why: 'refund', view: refunded };
  }
  return undefined;
}
