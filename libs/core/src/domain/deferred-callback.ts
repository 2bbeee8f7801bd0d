/**
 * Callbacks that came while the provider could not be asked what they were about. They are recorded, so that the inquiry
 * schedule brings their inquiry and nobody else's callbacks wait for it.
 */
import { z } from 'zod';
import { cut, textSchema } from './values.ts';

/** What such a callback names; absent if it names nothing. */
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

/** Of one payment or payout at a time; more add nothing. */
const deferredMax = 10;

/** One for each service token that callbacks name, and one for all that name none. */
export function deferCallback(
  { deferredCallbacks }: Deferring,
  { serviceToken: named, deferredAt }: { serviceToken?: string; deferredAt: number },
): CallbackDeferred[] {
  // What is too long to be read back is no token of the provider: an inquiry about its beginning finds nothing.
  const serviceToken = named === undefined ? null : cut(named);
  const isKnown = deferredCallbacks.some((each) => each.serviceToken === serviceToken);
  if (isKnown || deferredCallbacks.length >= deferredMax) return [];
  return [{ type: 'CallbackDeferred', data: { ...about(serviceToken), deferredAt } }];
}

/**
 * Ends those about what was inquired, and those that name nothing.
 *
 * @param inquiredAt when the inquiry began, if it may be older than the state: it says nothing about later callbacks
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

/** Ends the one about just this service token. */
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

/** When the latest one came; 0 where none waits. */
export const latestDeferredAt = ({ deferredCallbacks }: Deferring): number =>
  Math.max(0, ...deferredCallbacks.map(({ deferredAt }) => deferredAt));
