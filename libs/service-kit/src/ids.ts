import { randomBytes, randomUUID } from 'node:crypto';

/** The source of identifiers and randomness. */
export interface Ids {
  /** A random UUID (version 4), for events and correlation. */
  uuid(): string;
  /** `byteCount` unpredictable bytes as lower-case hexadecimal text. */
  hex(byteCount: number): string;
  /** A number in [0, 1), for jitter and sampling; not for secrets. */
  fraction(): number;
}

export const systemIds: Ids = {
  uuid: () => randomUUID(),
  hex: (byteCount) => randomBytes(byteCount).toString('hex'),
  fraction: () => Math.random(),
};
