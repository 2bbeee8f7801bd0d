export const reviewTexts = {
  title: 'Reviews',
  empty: 'No review is open.',
  emptyHow:
    'One opens where only a person can decide: an answer that stays lost, terms that disagree, a final state revised.',
  count: (open: number) =>
    `${open} ${open === 1 ? 'review is' : 'reviews are'} open. Those of production stand first, each list with the oldest first.`,
  further: 'Further ones',
  columns: {
    since: 'Open since',
    what: 'What happened',
    payment: 'Payment',
    amount: 'Amount',
    team: 'Team',
  },
  evidence: 'What is known',
  choices: 'What you can decide',
  reason: 'Why, in your own words. It becomes part of the history.',
  does: 'Decide',
  oneOfTwo: 'One of two persons has answered.',
  proposed: { answer: 'First answer', by: 'Answered by', at: 'At', reason: 'Why' },
  waitsForAnother:
    'It takes two persons. Yours is the first answer: it holds when somebody else gives the same. Another one of yours takes its place.',
  waitsForYou:
    'It takes two persons. The same answer from you holds at once; another one takes the place of the first.',
  notYours: (role: string) => `Your role, ${role}, cannot resolve reviews.`,
  gone: 'This review is resolved, or was never open.',
  nextOne: 'The next one',
  back: 'All reviews',
  codes: {
    attempt_not_found: 'A creation was sent, its answer was lost, and the Payment Service does not know it.',
    capture_unresolved: 'A capture was sent several times, and none shows an effect.',
    void_unresolved: 'A void was sent several times, and none shows an effect.',
    refund_unresolved: 'A refund was sent, its answer was lost, and the refunded sum has not grown.',
    payout_not_found: 'A payout was sent, its answer was lost, and the Payment Service does not know it.',
    terms_disagree: 'The Payment Service shows other terms than those that were asked for.',
    second_payment_found: 'A second payment for the same order was found at the Payment Service.',
    unknown_status: 'The Payment Service shows a status that is not in its specification.',
    final_status_revised:
      'The Payment Service changed a final status, or has open again what has ended here.',
    refund_disagrees:
      'The Payment Service shows another refunded sum than is on record here, or a refund that was called not made.',
    service_not_readable: "The Payment Service's answers about it cannot be read.",
    only_here: 'It is in our books, and the Payment Service does not show it.',
    second_payout_found: 'A second payout for the same order was found at the Payment Service.',
    only_at_service: 'The Payment Service has an operation that is not in our books.',
  } as Readonly<Record<string, string>>,
  resolutions: {
    acknowledged: 'It is settled elsewhere.',
    inquire_again: 'Ask the Payment Service again.',
    payment_not_made: 'The payment was not made.',
    payout_not_made: 'The payout was not made.',
    refund_made: 'The refund was made.',
    refund_not_made: 'The refund was not made.',
    observed_terms_apply: "The Payment Service's amount is right.",
  } as Readonly<Record<string, string>>,
  consequences: {
    acknowledged: () => 'Nothing changes here. The review closes with your reason.',
    inquire_again: () => 'The gateway inquires at once. Where nothing is found, a review opens again.',
    payment_not_made: (sum) =>
      `The payment ends as failed or declined, and the topic gets the event. If it was made after all, the customer has paid ${sum} for nothing.`,
    payout_not_made: (sum) =>
      `The payout ends, and ${sum} are free again. If it was made after all, paying it once more pays ${sum} twice.`,
    refund_made: (sum) =>
      `The refund is approved: ${sum} count as given back, and the topic gets RefundApproved.`,
    refund_not_made: (sum) =>
      `The refund ends, and ${sum} can be refunded again. If it was made after all, the customer may get ${sum} twice.`,
    observed_terms_apply: (sum) =>
      `It is of ${sum} from now on. Where it was not final, its status follows with the next inquiry.`,
  } as Readonly<Record<string, (sum: string) => string>>,
  otherwise: 'The review is closed with this resolution, and your reason in the history.',
} as const;
