/** The public form of each dispute event: its meaning, its data and an example. */
import type { DisputeEventType } from '@tollgate/core';
import { disputeFacts } from './dispute.ts';
import { publicEvent, type PublicEvent } from './public-object.ts';
import { paymentToken } from './refund.ts';
import { example, instant } from './values.ts';

const matched = { paymentToken: example.paymentToken };

export const disputeEvents = {
  DisputeOpened: publicEvent(
    "The customer's bank opened a dispute.",
    {
      both: {
        ...disputeFacts,
        paymentToken: paymentToken.exactOptional(),
        openedAt: instant.exactOptional(),
      },
    },
    {
      amount: 1250,
      currency: 'EUR',
      type: 'chargeback',
      reasonCode: '4853',
      status: 'open',
      openedAt: example.instant,
    },
  ),
  DisputeChanged: publicEvent(
    'The Payment Service reported a change of the dispute: its status, and the other facts that changed.',
    {
      both: {
        ...disputeFacts,
        amount: disputeFacts.amount.exactOptional(),
        currency: disputeFacts.currency.exactOptional(),
      },
    },
    { status: 'lost' },
    { ...matched, team: 'shop', status: 'lost' },
  ),
  DisputeMatched: publicEvent('The disputed payment was identified.', { both: { paymentToken } }, matched, {
    ...matched,
    team: 'shop',
  }),
} satisfies Record<DisputeEventType, PublicEvent>;
