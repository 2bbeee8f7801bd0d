/** Waits for all, also where one fails: what it has begun must not go on beside the next try. */
export async function allOrThrow<Value>(work: readonly Promise<Value>[]): Promise<Value[]> {
  const outcomes = await Promise.allSettled(work);
  return outcomes.map((outcome) => {
    if (outcome.status === 'rejected') throw outcome.reason as Error;
    return outcome.value;
  });
}
