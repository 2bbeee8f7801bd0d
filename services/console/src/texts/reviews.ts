export const reviewTexts = {
  title: 'Reviews',
  empty: 'No review is open.',
  emptyHow:
    'A review opens when only a person can decide: an answer is lost, or our record and the Payment Service disagree.',
  count: (open: number) =>
    `${open} ${open === 1 ? 'review is' : 'reviews are'} open. Production comes first, then the oldest.`,
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
    'This review requires two people. Your answer takes effect when another person gives the same one. A new answer of yours replaces it.',
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
    discrepancy: 'Our record and the Payment Service disagree.',
    dispute_opened:
      "The customer's bank wants money back. Answer in the provider's console before the bank's deadline.",
    service_not_readable: "The Payment Service's answers about it cannot be read.",
  } as Readonly<Record<string, string>>,
  kinds: {
    terms_disagree: 'The Payment Service shows another amount, currency or order number.',
    second_payment_found: 'The Payment Service shows a second payment for the same order.',
    second_payout_found: 'The Payment Service shows a second payout for the same order.',
    unknown_status: 'The Payment Service shows a status that is not in its specification.',
    final_status_revised: 'It is final here, and the Payment Service shows another status.',
    refund_disagrees:
      'The refunded sums differ, or a refund that ended here without effect may have been made.',
    only_here: 'It is in our books, and the Payment Service does not show it.',
    only_at_service: 'The Payment Service has an operation that is not in our books.',
  } as Readonly<Record<string, string>>,
  resolutions: {
    accept_theirs: 'The Payment Service is right.',
    keep_ours: 'Our record is right.',
    acknowledged: 'It is known, or settled elsewhere.',
    check_again: 'Ask the Payment Service again.',
    payment_not_made: 'The payment was not made.',
    payout_not_made: 'The payout was not made.',
    refund_made: 'The refund was made.',
    refund_not_made: 'The refund was not made.',
    dispute_won: 'The bank decided in our favor.',
    dispute_lost: 'The bank decided for its customer.',
  } as Readonly<Record<string, string>>,
  consequences: {
    acknowledged: () =>
      'No money moves, and disputed money stays unusable until the bank decides. The review closes with your reason.',
    check_again: () => 'The gateway inquires at once. The review stays open until both sides agree.',
    accept_theirs: () => 'Our record becomes what the Payment Service shows, and the topic gets the events.',
    keep_ours: () =>
      'Our record stays. A decision of an operator frees the reserved amount; one of a team key keeps it reserved.',
    payment_not_made: (sum) =>
      `The payment ends as failed or declined, and the topic gets the event. If it was made after all, the customer has paid ${sum} for nothing.`,
    payout_not_made: (sum) =>
      `The payout ends, and ${sum} are free again. If it was made after all, paying it once more pays ${sum} twice.`,
    dispute_won: () =>
      'The disputed amount can be refunded and paid out again. If the Payment Service shows another decision later, that one holds.',
    dispute_lost: () =>
      'The disputed amount is gone. If the Payment Service shows another decision later, that one holds.',
    refund_made: (sum) =>
      `The refund is approved: ${sum} count as given back, and the topic gets RefundApproved.`,
    refund_not_made: (sum) =>
      `The refund ends, and ${sum} can be refunded again. If it was made after all, the customer may get ${sum} twice.`,
  } as Readonly<Record<string, (sum: string) => string>>,
  otherwise: 'The review is closed with this resolution, and your reason in the history.',
} as const;
