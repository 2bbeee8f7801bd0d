/** Disputes in the event store, and how the service's words for them become ours. */
import type { EventStore } from '@tollgate/event-store';
import type { ServiceDispute } from '@tollgate/payment-api';
import {
  type DisputeEvent,
  type DisputeRefusal,
  type ObserveDispute,
  type ObservedDispute,
  decideDispute,
  decodeDisputeEvent,
  disputeStream,
} from '@tollgate/payment-domain';
import { type DisputeView, evolveDisputeView } from '@tollgate/views';
import { type Clock, type Ids, given } from '@tollgate/service-kit';
import { type Repository, createRepository } from '../streams/repository.ts';
import { deriveToken } from '../tokens.ts';

export type Disputes = Repository<DisputeView, DisputeEvent, ObserveDispute, DisputeRefusal>;

export const createDisputes = (deps: { store: EventStore; clock: Clock; ids: Ids }): Disputes =>
  createRepository(deps, {
    stream: disputeStream,
    decode: decodeDisputeEvent,
    decide: (view: DisputeView | undefined, command: ObserveDispute) => decideDispute(view?.dispute, command),
    evolve: evolveDisputeView,
  });

/** The token of a dispute: its id is the service's own, and unique within the account only. */
export const deriveDisputeToken = (environment: string, account: string, id: string): string =>
  deriveToken('dsp', [environment, account, id]);

/** The service's token of the payment is left out: it never leaves the house, and ours takes its place. */
export function fromServiceDispute(dispute: ServiceDispute): ObservedDispute {
  const { id, amount, currency, status, type, reasonCode, comment, createdAt } = dispute;
  return {
    ...{ id: String(id), amount, currency, status },
    ...given({
      type: type ?? undefined,
      reasonCode: reasonCode ?? undefined,
      comment: comment ?? undefined,
      // What is no instant is not recorded.
      openedAt: typeof createdAt === 'string' ? Date.parse(createdAt) : undefined,
    }),
  };
}
