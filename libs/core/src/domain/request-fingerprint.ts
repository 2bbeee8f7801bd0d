/** Distinguishes a replay from another request under the same idempotency key, without keeping what was asked for. */
export interface RequestFingerprints {
  /** Keyed hash over the validated request, as it is recorded for a new one. */
  fingerprint: string;
  /** The same request under earlier keys: what was recorded while one of them was in use is a replay, too. */
  earlierFingerprints?: readonly string[];
}

export const isSameRequest = (
  recorded: { fingerprint: string },
  { fingerprint, earlierFingerprints = [] }: RequestFingerprints,
): boolean => recorded.fingerprint === fingerprint || earlierFingerprints.includes(recorded.fingerprint);
