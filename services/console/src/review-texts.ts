/** The reasons of reviews, their resolutions, and what each resolution does. */
export const reviewTexts = {
  labels: {
    serviceToken: "Payment Service's token",
    providerOrderNumber: 'Order number',
    reasonCode: 'Reason',
    attemptNumber: 'Attempt',
  } as Readonly<Record<string, string>>,
  buttons: {
    acknowledged: 'Acknowledge',
    check_again: 'Check again',
    keep_ours: 'Keep our record',
  } as Readonly<Record<string, string>>,
  codes: {
    attempt_not_found: 'The answer to a payment was lost, and the Payment Service has no record of it.',
    capture_unresolved: 'A capture was sent several times without effect.',
    void_unresolved: 'A void was sent several times without effect.',
    refund_unresolved: 'The answer to a refund was lost, and the refunded sum has not grown.',
    payout_not_found: 'The answer to a payout was lost, and the Payment Service has no record of it.',
    discrepancy: 'Our record and the Payment Service disagree.',
    dispute_opened:
      "The customer's bank wants money back. Answer in the provider's console before the bank's deadline.",
    service_not_readable: "The Payment Service's answers cannot be read.",
  } as Readonly<Record<string, string>>,
  kinds: {
    terms_disagree: 'The Payment Service shows another amount, currency or order number.',
    second_payment_found: 'The Payment Service shows a second payment for the same order.',
    second_payout_found: 'The Payment Service shows a second payout for the same order.',
    unknown_status: 'The Payment Service shows a status that is not in its specification.',
    final_status_revised: 'The Payment Service shows another final status.',
    refund_disagrees: 'The refunded sums differ, or a refund that failed here may have been made.',
    only_here: 'The Payment Service does not show an operation that our record has.',
    only_at_service: 'The Payment Service shows an operation that our record does not have.',
  } as Readonly<Record<string, string>>,
  resolutions: {
    accept_theirs: 'The Payment Service is right.',
    keep_ours: 'Our record is right.',
    acknowledged: 'The case is known or settled elsewhere.',
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
    keep_ours: () => 'Our record stays, and the reserved amount is released.',
    payment_not_made: (sum) =>
      `The payment ends as failed or declined, and the topic gets the event. If it was made after all, the customer has paid ${sum} and gets nothing.`,
    payout_not_made: (sum) =>
      `The payout ends, and ${sum} become available. If it was made after all, another payout pays ${sum} twice.`,
    dispute_won: () =>
      'The disputed amount can be refunded and paid out again. If the Payment Service shows another decision later, that one applies.',
    dispute_lost: () =>
      'The disputed amount is gone. If the Payment Service shows another decision later, that one applies.',
    refund_made: (sum) =>
      `The refund is approved: ${sum} count as refunded, and the topic gets RefundApproved.`,
    refund_not_made: (sum) =>
      `The refund ends, and ${sum} can be refunded again. If it was made after all, the customer may get ${sum} twice.`,
  } as Readonly<Record<string, (sum: string) => string>>,
} as const;
