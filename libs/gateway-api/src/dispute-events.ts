/** The public form of each dispute event: its meaning, its data and an example. */
import type { DisputeEvent, DisputeEventType } from '@tollgate/core';
import { omitUndefined } from '@tollgate/service-kit';
import { disputeFacts } from './dispute.ts';
import { publicEvent, type PublicEvent } from './public-object.ts';
import { paymentToken } from './refund.ts';
import { example, instant } from './values.ts';

/** The provider's word is kept under `status`, and ours next to it. */
const facts = ({ status, state, ...data }: DisputeFacts) => ({
  ...data,
  ...omitUndefined({ status: state }),
  reportedStatus: status,
});
type DisputeFacts = Extract<DisputeEvent, { type: 'DisputeChanged' }>['data'];

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
      from: facts,
    },
    {
      amount: 1250,
      currency: 'EUR',
      type: 'chargeback',
      reasonCode: '4853',
      status: 'open',
      reportedStatus: 'pending',
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
        status: disputeFacts.status.exactOptional(),
      },
      from: facts,
    },
    { status: 'lost', reportedStatus: 'approved' },
    { ...matched, team: 'shop', status: 'lost', reportedStatus: 'approved' },
  ),
  DisputeMatched: publicEvent('The disputed payment was identified.', { both: { paymentToken } }, matched, {
    ...matched,
    team: 'shop',
  }),
} satisfies Record<DisputeEventType, PublicEvent>;
