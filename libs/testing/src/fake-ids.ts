/** `Ids` of the service kit by structure; the same seed gives the same sequence. */
export interface FakeIds {
  uuid(): string;
  hex(byteCount: number): string;
  fraction(): number;
}

/** Identifiers and randomness that look like the real ones and repeat from run to run. */
export function createFakeIds(seed = 1): FakeIds {
  const nextUint32 = mulberry32(seed);

  const hex = (byteCount: number) =>
    Array.from({ length: byteCount }, () => (nextUint32() >>> 24).toString(16).padStart(2, '0')).join('');

  const uuid = () => {
    const digits = hex(16);
    const variant = '89ab'.charAt(nextUint32() >>> 30);
    const parts = [digits.slice(0, 8), digits.slice(8, 12), `4${digits.slice(13, 16)}`];
    return [...parts, `${variant}${digits.slice(17, 20)}`, digits.slice(20)].join('-');
  };

  return { uuid, hex, fraction: () => nextUint32() / 2 ** 32 };
}

/** Tommy Ettinger's generator (public domain): 32 bits of state, far from secret, good enough for tests. */
export function mulberry32(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return (mixed ^ (mixed >>> 14)) >>> 0;
  };
}
