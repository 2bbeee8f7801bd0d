import { z } from 'zod';

/** API operations, each of which can be made to fail. */
const operations = [
  'create',
  'get',
  'list',
  'confirm',
  'decline',
  'refund',
  'payout',
  'balance',
  'disputes',
] as const;
export type Operation = (typeof operations)[number];

/**
 * Faults of an operation's answer. `error_before` and `rate_limited` have no effect; all others occur after the effect.
 */
export const answerFaults = [
  'error_before',
  'error_after',
  'lost_reply',
  'slow_reply',
  'html_502',
  'truncated_json',
  'rate_limited',
] as const;
export type AnswerFault = (typeof answerFaults)[number];

/** Faults of a queued callback. */
export const queueFaults = ['drop', 'duplicate', 'delay'] as const;
export type QueueFault = (typeof queueFaults)[number];

/** Targets of faults: every operation, and callbacks. */
export const faultOperations = [...operations, 'callback'] as const;

/** The faults available for one of `faultOperations`. */
export const faultNames = (operation: (typeof faultOperations)[number]): readonly string[] =>
  operation === 'callback' ? queueFaults : answerFaults;

const oneOf = (names: readonly string[]) => `must be one of ${names.join(', ')}`;

const limits = {
  times: z.int().min(1).max(1_000_000).optional(),
  every: z.int().min(2).max(1_000_000).optional(),
  delayMs: z.int().min(0).max(3_600_000).optional(),
};

const faultSchema = z.discriminatedUnion(
  'operation',
  [
    z.strictObject({
      operation: z.literal(operations),
      fault: z.enum(answerFaults, oneOf(answerFaults)),
      ...limits,
    }),
    z.strictObject({
      operation: z.literal('callback'),
      fault: z.enum(queueFaults, oneOf(queueFaults)),
      ...limits,
    }),
  ],
  oneOf(faultOperations),
);

/** Body of `POST /sandbox/faults`. */
export const faultsSchema = z
  .array(faultSchema)
  .min(1, 'must hold a fault')
  .max(100, 'must have at most 100 faults');

/**
 * A fault that a merchant has requested. It applies at most `times` times (unlimited if absent), to every n-th eligible call,
 * n being `every` (1 if absent). `delayMs` is for `slow_reply` and `delay`.
 */
export type Fault = z.infer<typeof faultSchema>;

export interface TakenFault<Name> {
  fault: Name;
  delayMs: number;
}

/** Default delay of `slow_reply` and `delay`. */
const defaultDelayMs = 5_000;
const faultsPerMerchantMax = 1_000;

export type Faults = ReturnType<typeof createFaults>;

/** The active faults per merchant, in memory only. */
export function createFaults() {
  const faultsByMerchant = new Map<number, Fault[]>();
  const of = (merchantId: number): Fault[] => faultsByMerchant.get(merchantId) ?? [];
  const metBy = new WeakMap<Fault, number>();

  function strikes(fault: Fault): boolean {
    if (fault.every === undefined) return true;
    const met = (metBy.get(fault) ?? 0) + 1;
    metBy.set(fault, met);
    return met % fault.every === 0;
  }

  return {
    /** Adds faults; returns false, and adds nothing, if the limit would be exceeded. */
    add: (merchantId: number, faults: readonly Fault[]): boolean => {
      const all = [...of(merchantId), ...faults.map((fault) => ({ ...fault }))];
      if (all.length > faultsPerMerchantMax) return false;
      faultsByMerchant.set(merchantId, all);
      return true;
    },
    clear: (merchantId: number): void => void faultsByMerchant.delete(merchantId),
    list: (merchantId: number): Fault[] => of(merchantId).map((fault) => ({ ...fault })),
    /** Consumes the first fault for `area` that is among `names` and applies now. */
    take: <Name extends AnswerFault | QueueFault>(
      merchantId: number,
      area: Operation | 'callback',
      names: readonly Name[],
    ): TakenFault<Name> | undefined => {
      const isMeant = (fault: Fault) =>
        fault.operation === area && (names as readonly string[]).includes(fault.fault);
      const taken = of(merchantId).find((fault) => isMeant(fault) && strikes(fault));
      if (taken === undefined) return undefined;
      if (taken.times !== undefined) taken.times -= 1;
      if (taken.times === 0) {
        faultsByMerchant.set(
          merchantId,
          of(merchantId).filter((fault) => fault !== taken),
        );
      }
      return { fault: taken.fault as Name, delayMs: taken.delayMs ?? defaultDelayMs };
    },
  };
}
