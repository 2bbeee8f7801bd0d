/** Distinguishes a replay from another request under the same idempotency key, without storing the request. */
export interface RequestFingerprints {
  /** Keyed hash over the validated request, as recorded for a new one. */
  fingerprint: string;
  /** The same request under earlier secrets: a request recorded under one of them is a replay. */
  earlierFingerprints?: readonly string[];
}

export const isSameRequest = (
  recorded: { fingerprint: string },
  { fingerprint, earlierFingerprints = [] }: RequestFingerprints,
): boolean => recorded.fingerprint === fingerprint || earlierFingerprints.includes(recorded.fingerprint);
