/** A person's decision is on record before any of it is done: a crash in between leaves a question, never an unknown decider. */
import type { Requester } from '../domain/requester.ts';
import type { Cause } from '../aggregates/repository.ts';

/** Who asks, as the security log records it. */
interface Asker {
  team: string;
  environment: Requester['environment'];
  keyId: string;
  address: string;
}

interface PersonDecision {
  token: string;
  code: string;
  number: number;
  resolution: string;
}

export interface DecisionRecorder {
  /** Resolves when it is on record who asks to resolve a review, or to approve or refuse a payout. */
  recordResolution?: (asker: Asker, decision: PersonDecision) => Promise<void>;
}

export async function recordDecision(
  { recordResolution }: DecisionRecorder,
  { caller: { team, environment, keyId }, cause: { actor } }: { caller: Requester; cause: Cause },
  decision: PersonDecision,
): Promise<void> {
  const { address = '' } = actor.kind === 'team' ? actor : {};
  await recordResolution?.({ team, environment, keyId, address }, decision);
}
