import { randomUUID } from 'node:crypto';
import { type ServerUnaryCall, type ServiceError, type sendUnaryData, status } from '@grpc/grpc-js';
import streams from '@eventstore/db-client/generated/streams_pb.js';
import type { EventStore } from '../../event-store.ts';
import type { ServerFaults } from './faults.ts';
import { leadership, serviceError, streamDeleted } from './service-errors.ts';
import { shownOf, tombstoneType } from './shown-events.ts';
import { noBytes, streamOf } from './wire-events.ts';
import { toStoredStream } from './wire-streams.ts';

type TombstoneReq = InstanceType<typeof streams.TombstoneReq>;
type TombstoneResp = InstanceType<typeof streams.TombstoneResp>;

/** `Tombstone`: deletes a stream permanently, at any revision. */
export function createTombstone({ store, faults }: { store: EventStore; faults: ServerFaults }) {
  return (
    { request }: ServerUnaryCall<TombstoneReq, TombstoneResp>,
    respond: sendUnaryData<TombstoneResp>,
  ): void => {
    const stream = streamOf(request.getOptions()?.getStreamIdentifier());
    const bury = async (): Promise<ServiceError | null> => {
      await faults.writersStalled;
      const refusal = leadership(faults);
      if (refusal !== undefined) return refusal;
      if ((await shownOf(store, stream)).kind === 'deleted') return streamDeleted(stream);
      const event = { id: randomUUID(), type: tombstoneType, data: noBytes, metadata: noBytes };
      await store.append(toStoredStream(stream), [event], 'any');
      return null;
    };
    bury().then(
      (refusal) => respond(refusal, new streams.TombstoneResp()),
      () => respond(serviceError(status.UNAVAILABLE, 'the store failed')),
    );
  };
}
