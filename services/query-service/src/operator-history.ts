/** The history of a payment as people who operate the gateway read it: with persons, and with each event as it is stored. */
import type { EventStore } from '@tollgate/event-store';
import { eventMetadataSchema } from '@tollgate/payment-domain';
import { toIso } from '@tollgate/gateway-api';
import { isToken } from '@tollgate/teams';
import { type PaymentView, paymentKind, streamOf } from '@tollgate/views';
import { paymentHistory } from './history.ts';

export async function readOperatorHistory(store: EventStore, token: string) {
  if (!isToken(token)) return undefined;
  const entries = [];
  let view: PaymentView | undefined;
  for await (const recorded of store.read(streamOf(paymentKind, token))) {
    view = paymentKind.fold(view, recorded);
    const { revision, type, data } = recorded;
    const { recordedAt, correlationId, causationId, actor } = eventMetadataSchema.parse(recorded.metadata);
    entries.push({
      ...{ revision, type, at: toIso(recordedAt), ...paymentHistory.stateOf(view) },
      cause: { correlationId, causationId, actor },
      data: paymentHistory.toData(recorded),
      stored: { type, data, metadata: recorded.metadata },
    });
  }
  return view === undefined ? undefined : entries;
}
