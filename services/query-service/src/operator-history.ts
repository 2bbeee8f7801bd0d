/** The history of a payment or payout as people who operate the gateway read it: with persons, and with each event as it is stored. */
import type { EventStore } from '@tollgate/event-store';
import { eventMetadataSchema } from '@tollgate/payment-domain';
import { toIso } from '@tollgate/gateway-api';
import { type Reach, isToken } from '@tollgate/teams';
import { type ViewEnvelope, streamOf } from '@tollgate/views';
import type { HistoryKind } from './history.ts';

/** Every event, in order; undefined if there is none with this token within reach. */
export async function readOperatorHistory<View extends ViewEnvelope>(
  store: EventStore,
  { kind, stateOf, toData }: HistoryKind<View>,
  { token, reach }: { token: string; reach: Reach },
) {
  if (!isToken(token)) return undefined;
  const entries = [];
  let view: View | undefined;
  for await (const recorded of store.read(streamOf(kind, token))) {
    view = kind.fold(view, recorded);
    const { revision, type, data } = recorded;
    const { recordedAt, correlationId, causationId, actor } = eventMetadataSchema.parse(recorded.metadata);
    entries.push({
      ...{ revision, type, at: toIso(recordedAt), ...stateOf(view) },
      cause: { correlationId, causationId, actor },
      data: toData(recorded),
      stored: { type, data, metadata: recorded.metadata },
    });
  }
  return view === undefined || !reach.includes(kind.ownerOf(view)) ? undefined : entries;
}
