/**
 * Callbacks that arrived while their subject could not be inquired. They are recorded, so that the inquiry schedule takes
 * over and no other callback waits.
 */
import { z } from 'zod';
import { cut, textSchema } from './values.ts';

/** The provider's token in the callback; absent if it names none. */
const named = { serviceToken: textSchema.optional() };

export const callbackDeferredSchema = z.object({
  ...named,
  /** Milliseconds since the Unix epoch. */
  deferredAt: z.int().min(0),
});
export const callbackInquiredSchema = z.object(named);

export const deferredCallbacksShape = {
  deferredCallbacks: z
    .array(z.object({ serviceToken: z.string().nullable(), deferredAt: z.int() }))
    .readonly(),
};

export interface Deferring {
  deferredCallbacks: readonly { serviceToken: string | null; deferredAt: number }[];
}

export const noDeferredCallbacks: Deferring = { deferredCallbacks: [] };

export interface CallbackDeferred {
  type: 'CallbackDeferred';
  data: z.infer<typeof callbackDeferredSchema>;
}
export interface CallbackInquired {
  type: 'CallbackInquired';
  data: z.infer<typeof callbackInquiredSchema>;
}

/** Maximum per payment or payout; more are ignored. */
const deferredMax = 10;

/** One for each provider token that callbacks name, and one for all callbacks that name none. */
export function deferCallback(
  { deferredCallbacks }: Deferring,
  { serviceToken: named, deferredAt }: { serviceToken?: string; deferredAt: number },
): CallbackDeferred[] {
  // A text too long to be read back is not a token of the provider: an inquiry about its prefix finds nothing.
  const serviceToken = named === undefined ? null : cut(named);
  const isKnown = deferredCallbacks.some((each) => each.serviceToken === serviceToken);
  if (isKnown || deferredCallbacks.length >= deferredMax) return [];
  return [{ type: 'CallbackDeferred', data: { ...about(serviceToken), deferredAt } }];
}

/**
 * Ends those about the inquired subject, and those that name nothing.
 *
 * @param inquiredAt start of the inquiry, if it may predate the state: it proves nothing about later callbacks
 */
export const endDeferredOfOwn = (
  state: Deferring,
  ownToken: string | undefined,
  inquiredAt = Infinity,
): CallbackInquired[] =>
  endWhere(
    state,
    ({ serviceToken, deferredAt }) =>
      deferredAt <= inquiredAt && (serviceToken === null || serviceToken === ownToken),
  );

/** Ends the one about this provider token. */
export const endDeferredAbout = (state: Deferring, serviceToken: string): CallbackInquired[] =>
  endWhere(state, (each) => each.serviceToken === serviceToken);

const endWhere = (
  { deferredCallbacks }: Deferring,
  isOver: (each: Deferring['deferredCallbacks'][number]) => boolean,
): CallbackInquired[] =>
  deferredCallbacks.filter(isOver).map(({ serviceToken }) => ({
    type: 'CallbackInquired',
    data: about(serviceToken),
  }));

const about = (serviceToken: string | null): { serviceToken?: string } =>
  serviceToken === null ? {} : { serviceToken };

export const afterDeferred = (
  { deferredCallbacks }: Deferring,
  { serviceToken = null, deferredAt }: { serviceToken?: string | null | undefined; deferredAt: number },
): Deferring => ({ deferredCallbacks: [...deferredCallbacks, { serviceToken, deferredAt }] });

export const afterInquired = (
  { deferredCallbacks }: Deferring,
  { serviceToken = null }: { serviceToken?: string | null | undefined },
): Deferring => ({
  deferredCallbacks: deferredCallbacks.filter((each) => each.serviceToken !== serviceToken),
});

/** Time of the latest one; 0 if none waits. */
export const latestDeferredAt = ({ deferredCallbacks }: Deferring): number =>
  Math.max(0, ...deferredCallbacks.map(({ deferredAt }) => deferredAt));
