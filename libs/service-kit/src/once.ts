/** Computes at the first call, and returns the same to all; after a failure the next call retries. */
export function once<Value>(make: () => Value): () => Value {
  let made: { value: Value } | undefined;
  return () => (made ??= { value: make() }).value;
}
