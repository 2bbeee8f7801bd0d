/** When inquiries were answered last: an inquiry that finds nothing new writes no event. */
export interface LastAnswers {
  note(token: string, at: number): void;
  /** Milliseconds since the Unix epoch; 0 where it is not known. */
  of(token: string): number;
}

/** Of a process, for so many payments and payouts at most: what is forgotten counts from its last change. */
export function createLastAnswers(tokensMax = 50_000): LastAnswers {
  const answeredAt = new Map<string, number>();
  return {
    note(token, at) {
      answeredAt.delete(token);
      answeredAt.set(token, at);
      const [oldest] = answeredAt.keys();
      if (answeredAt.size > tokensMax && oldest !== undefined) answeredAt.delete(oldest);
    },
    of: (token) => answeredAt.get(token) ?? 0,
  };
}
