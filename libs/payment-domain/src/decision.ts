/** What a pure decision gives: events to append in one piece (none: nothing new), or a refusal. */
export type Decision<Event, Refusal> =
  { kind: 'events'; events: readonly Event[] } | { kind: 'refused'; refusal: Refusal };
