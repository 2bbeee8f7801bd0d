import { InvariantViolation } from '@tollgate/service-kit/errors';

export { InvariantViolation };

/** Makes a `switch` over a closed union exhaustive: the compiler rejects a reachable call. */
export function unreachable(value: never): never {
  throw new InvariantViolation(`unexpected value: ${JSON.stringify(value)}`);
}
