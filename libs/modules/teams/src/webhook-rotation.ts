/** Rotations of the secret that signs a team's webhooks: for all its endpoints, or for those of one origin. */
import { environmentSchema, type Environment, normalizeOrigin } from '@tollgate/core';
import { z } from 'zod';
import type { Team, TeamDecision } from './team.ts';

/** Maximum rotations of a team in total. */
export const rotationsMax = 1_000;

export const webhookRotationSchema = z.object({
  environment: environmentSchema,
  /** The origin of the endpoints; absent: all. */
  origin: z.string().optional(),
  /** Until then, webhooks carry the signature of the former secret as well; milliseconds since the Unix epoch. */
  formerUntil: z.int(),
});
export type WebhookRotation = z.infer<typeof webhookRotationSchema>;

export interface RotateWebhookSecret {
  type: 'RotateWebhookSecret';
  environment: Environment;
  origin?: string;
  formerUntil: number;
}

export function rotateWebhookSecret(team: Team, command: RotateWebhookSecret): TeamDecision {
  const { environment, origin: given, formerUntil } = command;
  if (team.webhookRotations.length >= rotationsMax)
    return { kind: 'refused', refusal: { code: 'too_many_rotations' } };
  if (given === undefined)
    return { kind: 'events', events: [{ type: 'WebhookSecretRotated', data: { environment, formerUntil } }] };
  const origin = normalizeOrigin(given);
  if (origin === undefined || origin.endsWith(':*'))
    return { kind: 'refused', refusal: { code: 'origin_invalid', origin: given } };
  const data = { environment, origin, formerUntil };
  return { kind: 'events', events: [{ type: 'WebhookSecretRotated', data }] };
}

/**
 * Secrets that sign the webhooks to an origin at that time: the current one first, then the former one during the overlap. The
 * empty text names the secret that was never rotated.
 */
export function webhookSecretVersions(
  rotations: readonly WebhookRotation[],
  endpoint: { environment: string; origin: string | undefined },
  now: number,
): readonly string[] {
  let ofTeam = 0;
  let ofOrigin = 0;
  let current = '';
  let former: string | undefined;
  for (const { environment, origin, formerUntil } of rotations) {
    if (environment !== endpoint.environment) continue;
    if (origin !== undefined && origin !== endpoint.origin) continue;
    if (origin === undefined) ofTeam += 1;
    else ofOrigin += 1;
    former = formerUntil > now ? current : undefined;
    current = ofOrigin === 0 ? `${ofTeam}` : `${ofTeam} ${endpoint.origin} ${ofOrigin}`;
  }
  return former === undefined ? [current] : [current, former];
}
