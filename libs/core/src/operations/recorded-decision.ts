/** A person's decision is recorded before it is carried out: after a crash in between, the decider is still known. */
import type { Requester } from '../domain/requester.ts';
import type { Cause } from '../aggregates/repository.ts';

/** The person, as the security log records it. */
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
  /** Resolves when the request to resolve a review, or to approve or refuse a payout, is recorded. */
  recordResolution?: (asker: Asker, decision: PersonDecision) => Promise<void>;
}

export async function recordDecision(
  { recordResolution }: DecisionRecorder,
  { caller: { team, environment, keyId }, cause: { actor } }: { caller: Requester; cause: Cause },
  decision: PersonDecision,
): Promise<void> {
  const { address = '' } = actor.kind === 'service' ? {} : actor;
  await recordResolution?.({ team, environment, keyId, address }, decision);
}
