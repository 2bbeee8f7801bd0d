/** Thrown if a broken invariant is found. It stops the affected stream, loudly. */
export class InvariantViolation extends Error {
  readonly code = 'invariant_violation';

  constructor(message: string) {
    super(message);
    this.name = 'InvariantViolation';
  }
}

/** Makes a `switch` over a closed union exhaustive: the compiler rejects a reachable call. */
export function unreachable(value: never): never {
  throw new InvariantViolation(`unexpected value: ${JSON.stringify(value)}`);
}
