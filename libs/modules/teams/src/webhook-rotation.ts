/** Rotations of the secret that signs the webhooks of a team to callback URLs. */
import { environmentSchema, type Environment } from '@tollgate/core';
import { z } from 'zod';
import type { Team, TeamDecision } from './team.ts';

/** Maximum rotations of a team in total. */
export const rotationsMax = 1_000;

export const webhookRotationSchema = z.object({
  environment: environmentSchema,
  /** Until then, webhooks carry the signature of the former secret as well; milliseconds since the Unix epoch. */
  formerUntil: z.int(),
});
export type WebhookRotation = z.infer<typeof webhookRotationSchema>;

export interface RotateWebhookSecret {
  type: 'RotateWebhookSecret';
  environment: Environment;
  formerUntil: number;
}

export function rotateWebhookSecret(team: Team, command: RotateWebhookSecret): TeamDecision {
  const { environment, formerUntil } = command;
  if (team.webhookRotations.length >= rotationsMax)
    return { kind: 'refused', refusal: { code: 'too_many_rotations' } };
  return { kind: 'events', events: [{ type: 'WebhookSecretRotated', data: { environment, formerUntil } }] };
}

/**
 * Secrets that sign webhooks at that time: the current one first, then the former one during the overlap. The empty text names
 * the secret that was never rotated.
 */
export function webhookSecretVersions(
  rotations: readonly WebhookRotation[],
  environment: string,
  now: number,
): readonly string[] {
  const known = rotations.filter((rotation) => rotation.environment === environment);
  const names = ['', ...known.map((_, index) => `${index + 1}`)];
  const isOverlap = (known.at(-1)?.formerUntil ?? now) > now;
  return names.slice(isOverlap ? -2 : -1).toReversed();
}
