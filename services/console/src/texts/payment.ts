/** The page of a payment: facts, timeline, next step, actions and their outcomes. */
export const paymentTexts = {
  payment: {
    order: 'order',
    facts: {
      team: 'Team',
      environment: 'Environment',
      account: 'Account',
      order: 'Order number',
      card: 'Card',
      token: 'Token',
      created: 'Created',
      approved: 'Approved',
      refunded: 'Refunded',
      disputed: 'Disputed',
      lost: 'Lost in disputes',
      held: 'Authorized',
      product: 'Product',
      declined: 'Decline reason',
      page: 'Payment page',
    },
    since: 'since',
    next: 'Next',
    picture: 'States',
    pictureHelp: 'Blue: current state. Solid: past states, with the time in each. Dashed: still possible.',
    refused: (operation: string, why: string | undefined) =>
      why === undefined ? `The ${operation} was refused.` : `The ${operation} was refused: ${why}`,
    reasons: {
      refused: 'Refused by the Payment Service.',
      'not-sent': 'The call was not sent.',
      'not-found': 'The Payment Service has no record of it.',
      declined: 'Declined by the Payment Service.',
      resolved: 'An operator resolved it as not made.',
      timeout: 'No answer in time.',
    } as Readonly<Record<string, string>>,
    call: {
      title: (operation: string, number: number) =>
        number > 1
          ? `Call to the Payment Service: ${operation} ${number},`
          : `Call to the Payment Service: ${operation},`,
      outcomes: {
        accepted: 'accepted',
        refused: 'refused',
        declined: 'declined',
        'not sent': 'not sent',
        'not found': 'not found',
        unknown: 'outcome unknown',
        'under way': 'under way',
      } as Readonly<Record<string, string>>,
      after: (duration: string) => `after ${duration}`,
      found: 'Resolved by a status inquiry.',
      sendBy: 'Send deadline',
    },
    webhook: 'Webhook to',
    timeline: 'Timeline',
    kinds: {
      event: 'Events',
      refund: 'Refunds',
      call: 'Calls',
      callback: 'Callbacks',
      webhook: 'Webhooks',
      dispute: 'Disputes',
    },
    callback: 'A callback arrived, and the gateway checked the status.',
    callbackLed: 'Result:',
    dispute: 'Dispute over',
    metadata: (name: string) => `Metadata ${name}`,
    raw: 'Stored event',
    by: {
      team: (team: string, keyId: string) => `team ${team}, key ${keyId}`,
      person: (name: string) => (name === '' ? 'a person' : name),
      service: (name: string) => name,
    },
    customerPage: "Open the customer's page",
    reviews: 'Open reviews',
    decide: 'Decide',
  },
  next: {
    review: (count: number) =>
      count === 1 ? 'A review waits for a decision.' : `${count} reviews wait for a decision.`,
    disputed: (amount: string) => `Disputed: ${amount}. Answer the bank in the provider's console.`,
    unresolved: (operation: string) => `The answer to the ${operation} was lost. Next check`,
    underWay: (operation: string) => `The ${operation} is under way. Answer due`,
    customer: 'Waiting for the customer. Next check',
    customerOnly: 'Waiting for the customer.',
    authorized: 'The team captures or voids the payment.',
    refund: 'The Payment Service has not decided the refund. Next check',
    final: 'Final. Next check',
    finalOnly: 'Final. No further checks.',
  },
  operations: {
    authorize: 'payment',
    capture: 'capture',
    void: 'void',
    refund: 'refund',
    payout: 'payout',
  } as Readonly<Record<string, string>>,
  actions: {
    title: 'Actions',
    notNow: 'Not possible in the current state',
    disputed: (amount: string) => `${amount} is disputed or lost in a dispute and cannot be refunded.`,
    capture: {
      name: 'Capture',
      says: (amount: string, account: string) =>
        `Captures the authorized ${amount} through account ${account}. Cannot be undone; refund it instead.`,
      does: (amount: string) => `Capture ${amount}`,
    },
    void: {
      name: 'Void',
      says: (amount: string, account: string) =>
        `Releases the authorized ${amount} through account ${account}. The customer pays nothing. Cannot be undone.`,
      does: (amount: string) => `Release ${amount}`,
    },
    refund: {
      name: 'Refund',
      says: (amount: string, account: string) =>
        `Sends a refund of up to ${amount} to account ${account}. Cannot be undone.`,
      amount: 'Amount',
      does: () => 'Send the refund',
    },
    inquire: {
      name: 'Check now',
      says: (_amount: string, account: string) =>
        `Asks the Payment Service for the status, through account ${account}. Moves no money.`,
      does: () => 'Check the status',
    },
    notYours: (role: string) => `Your role, ${role}, allows no action here.`,
  },
  outcomes: {
    capture: 'The capture was accepted.',
    void: 'The void was accepted.',
    refund: 'The refund was accepted.',
    refundDeclined: 'The Payment Service declined the refund. No money was returned.',
    unknown: 'Sent. The outcome is not known yet. It appears here after the next check.',
    inquire: {
      inquired: 'The Payment Service answered. The status is up to date.',
      'awaiting-answer': 'A call of this payment is under way. Wait for its answer.',
      failed: 'The Payment Service gave no usable answer. The next check follows automatically.',
      'not-asked': 'The account cannot be called now. The next check follows automatically.',
      'nothing-there': 'There is no such payment.',
    } as Readonly<Record<string, string>>,
    refundTooHigh: (most: string) => `At most ${most} can be refunded now. Nothing was sent.`,
    refusedAmount: (currency: string, example: string) =>
      `This is not an amount in ${currency}. Write it like ${example}. Nothing was sent.`,
    reviewResolved: (about: string | undefined, next: string | undefined) =>
      `${about === undefined ? 'Resolved.' : `Resolved: ${about}.`} ${next === undefined ? 'No other review is open.' : `Next: ${next}.`}`,
    reviewStillOpen: 'The status was checked. The review is still open.',
    reviewProposed: 'Your answer is stored. It takes effect when a second person gives the same one.',
  },
} as const;
