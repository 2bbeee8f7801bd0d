/** Stores operations that only the provider has, and their reviews. */
import {
  type Cause,
  type Repository,
  type ResolveReviewDependencies,
  type ResolveReviewInput,
  type ResolveReviewResult,
  type ReviewRefusal,
  createRepository,
  deriveToken,
  resolveReviewIn,
} from '@tollgate/core';
import type { EventStore, Position } from '@tollgate/event-store';
import type { Clock, Ids } from '@tollgate/service-kit';
import { type UnmatchedAggregate as AggregateAt, evolveUnmatchedAggregate } from './records.ts';
import {
  type UnmatchedEvent,
  type UnmatchedFacts,
  type UnmatchedInput,
  decideUnmatched,
  decodeUnmatchedEvent,
  unmatchedStream,
  unmatchedTokenPrefix,
  versionOfUnmatchedEvent,
} from './unmatched.ts';

type UnmatchedAggregate = AggregateAt<Position>;
export type UnmatchedOperations = Repository<
  UnmatchedAggregate,
  UnmatchedEvent,
  UnmatchedInput,
  ReviewRefusal
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

/** The stream's name is deterministic, so that every reconciliation that finds it uses the same stream. */
export const deriveUnmatchedToken = ({
  environment,
  account,
  operation,
  serviceToken,
}: Pick<UnmatchedFacts, 'environment' | 'account' | 'operation' | 'serviceToken'>): string =>
  deriveToken(unmatchedTokenPrefix, [environment, account, operation, serviceToken]);

/** Its owner is known: it was adopted, or recognized as the gateway's own. @throws StoreUnavailable */
export async function resolveAsKnown(
  unmatched: UnmatchedOperations,
  token: string,
  cause: Cause,
): Promise<void> {
  const known = await unmatched.load(token);
  for (const { code, number } of known?.unmatched.reviews ?? []) {
    const answer = { resolution: 'accept_theirs', reason: 'It belongs to a team of the gateway.' } as const;
    await unmatched.execute(token, { type: 'ResolveReview', code, number, ...answer }, cause);
  }
}

export const isUnmatchedToken = (token: string): boolean => token.startsWith(`${unmatchedTokenPrefix}_`);

/** A person resolves the review of an operation that only the provider has. It belongs to no team's books: none is inquired. */
export const resolveUnmatchedReview = (
  deps: ResolveReviewDependencies & { unmatched: UnmatchedOperations },
  input: ResolveReviewInput,
): Promise<ResolveReviewResult<UnmatchedAggregate>> =>
  resolveReviewIn(deps, input, {
    notFound: 'review_not_found',
    load: (token) => deps.unmatched.load(token),
    stateOf: ({ unmatched }) => unmatched,
    resolve: (token, { code, ...answer }, cause) =>
      code === 'discrepancy' ? deps.unmatched.execute(token, { ...answer, code }, cause) : undefined,
  });
