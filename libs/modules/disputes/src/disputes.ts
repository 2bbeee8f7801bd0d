/** Disputes in the event store. */
import type { EventStore, Position } from '@tollgate/event-store';
import { type Repository, createRepository, deriveToken } from '@tollgate/core';
import type { Clock, Ids } from '@tollgate/service-kit';
import {
  type DisputeAggregate as AggregateAt,
  type DisputeEvent,
  type DisputeRefusal,
  type ObserveDispute,
  decideDispute,
  decodeDisputeEvent,
  disputeStream,
  evolveDisputeAggregate,
  versionOfDisputeEvent,
} from '@tollgate/books';

type DisputeAggregate = AggregateAt<Position>;
export type Disputes = Repository<DisputeAggregate, DisputeEvent, ObserveDispute, DisputeRefusal>;

export const createDisputes = (deps: { store: EventStore; clock: Clock; ids: Ids }): Disputes =>
  createRepository(deps, {
    stream: disputeStream,
    decode: decodeDisputeEvent,
    versionOf: versionOfDisputeEvent,
    decide: (aggregate: DisputeAggregate | undefined, input: ObserveDispute) =>
      decideDispute(aggregate?.dispute, input),
    evolve: evolveDisputeAggregate<Position>,
  });

/** The token of a dispute: the provider's id is unique only within the account. */
export const deriveDisputeToken = (environment: string, account: string, id: string): string =>
  deriveToken('dsp', [environment, account, id]);
