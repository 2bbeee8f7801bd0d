import type { Caller, SecurityWatch } from '@tollgate/teams';
import type { Cause } from '../aggregates/repository.ts';

export interface DecisionRecorder {
  /** Resolves when it is on record who asks for the decision. */
  recordResolution?: SecurityWatch['recordResolution'];
}

interface Asked {
  caller: Caller;
  cause: Cause;
}

/** Before anything of it is done: a crash in between leaves a question on record, never a decision without one. */
export async function recordDecision(
  { recordResolution }: DecisionRecorder,
  { caller: { team, environment, keyId }, cause: { actor } }: Asked,
  decision: { token: string; code: string; number: number; resolution: string },
): Promise<void> {
  const { address = '' } = actor.kind === 'team' ? actor : {};
  await recordResolution?.({ team, environment, keyId, address }, decision);
}
