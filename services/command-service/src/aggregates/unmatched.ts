/** What only the provider has, in the event store. */
import type { EventStore, Position } from '@tollgate/event-store';
import {
  type UnmatchedAggregate as AggregateAt,
  type UnmatchedEvent,
  type UnmatchedFacts,
  type UnmatchedInput,
  type UnmatchedRefusal,
  decideUnmatched,
  decodeUnmatchedEvent,
  evolveUnmatchedAggregate,
  unmatchedStream,
  unmatchedTokenPrefix,
  versionOfUnmatchedEvent,
} from '@tollgate/payment-domain';
import type { Clock, Ids } from '@tollgate/service-kit';
import { deriveToken } from '../tokens.ts';
import { type Repository, createRepository } from './repository.ts';

export type UnmatchedAggregate = AggregateAt<Position>;
export type UnmatchedOperations = Repository<
  UnmatchedAggregate,
  UnmatchedEvent,
  UnmatchedInput,
  UnmatchedRefusal
>;

export const createUnmatchedOperations = (deps: {
  store: EventStore;
  clock: Clock;
  ids: Ids;
}): UnmatchedOperations =>
  createRepository(deps, {
    stream: unmatchedStream,
    decode: decodeUnmatchedEvent,
    versionOf: versionOfUnmatchedEvent,
    decide: (aggregate: UnmatchedAggregate | undefined, input: UnmatchedInput) =>
      decideUnmatched(aggregate?.unmatched, input),
    evolve: evolveUnmatchedAggregate<Position>,
  });

/** Every reconciliation that finds it meets the same stream. */
export const deriveUnmatchedToken = ({
  environment,
  account,
  operation,
  serviceToken,
}: Pick<UnmatchedFacts, 'environment' | 'account' | 'operation' | 'serviceToken'>): string =>
  deriveToken(unmatchedTokenPrefix, [environment, account, operation, serviceToken]);

export const isUnmatchedToken = (token: string): boolean => token.startsWith(`${unmatchedTokenPrefix}_`);
