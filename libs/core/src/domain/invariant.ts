/** The domain rules this out, and it has happened. It stops the stream that it happened in, loudly. */
export class InvariantViolation extends Error {
  readonly code = 'invariant_violation';

  constructor(message: string) {
    super(message);
    this.name = 'InvariantViolation';
  }
}

/** Makes a `switch` over a closed union exhaustive: the compiler refuses a call that can be reached. */
export function unreachable(value: never): never {
  throw new InvariantViolation(`unexpected value: ${JSON.stringify(value)}`);
}
