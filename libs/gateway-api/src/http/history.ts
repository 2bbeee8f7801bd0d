/** The history of a payment or payout, as teams read it. */
import { paymentStatusSchema } from '@tollgate/core/money';
import { paymentPhases, payoutPhases, payoutStatusSchema } from '@tollgate/core';
import { z } from 'zod';
import { paymentEvents } from '../payment-events.ts';
import { payoutEvents } from '../payout-events.ts';
import { type PublicEvent, oneOf } from '../public-object.ts';
import { instant } from '../values.ts';

const actor = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('team'), team: z.string(), keyId: z.string() }),
  z.object({ kind: z.literal('person') }),
  z.object({ kind: z.literal('service'), name: z.string() }),
]);

export const causeSchema = z.object({
  correlationId: z.string().describe('The same for all events that one request or callback caused.'),
  causationId: z.string(),
  actor: actor.describe('Origin of the event: a key of a team, a person, or a service of the gateway.'),
});

function historySchema(
  events: Readonly<Record<string, PublicEvent>>,
  after: { phase: z.ZodType<string>; status: z.ZodType<string> },
) {
  const entries = Object.entries(events).map(([type, { meaning, answer }]) =>
    z.object({
      revision: z.int().min(0).describe('Its number in the history, from 0.'),
      type: z.literal(type).describe(`- \`${type}\`: ${meaning}`),
      at: instant.describe('Time of the event.'),
      ...after,
      cause: causeSchema,
      data: answer,
    }),
  );
  const [first, ...others] = entries;
  if (first === undefined) throw new RangeError('a history without events');
  return z.discriminatedUnion('type', [first, ...others]);
}

export const paymentEventSchema = historySchema(paymentEvents, {
  phase: oneOf(paymentPhases, 'After the event.'),
  status: paymentStatusSchema.describe('After the event.'),
});

export const payoutEventSchema = historySchema(payoutEvents, {
  phase: oneOf(payoutPhases, 'After the event.'),
  status: payoutStatusSchema.describe('After the event.'),
});
