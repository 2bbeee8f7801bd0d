/** Makes it at the first call, and gives the same to everybody; what could not be made is tried again by the next. */
export function once<Value>(make: () => Value): () => Value {
  let made: { value: Value } | undefined;
  return () => (made ??= { value: make() }).value;
}
