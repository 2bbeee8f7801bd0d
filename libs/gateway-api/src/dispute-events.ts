/** The public form of each dispute event: its meaning, its data and an example. */
import { omitUndefined } from '@tollgate/service-kit';
import type { DisputeEvent, DisputeEventType } from '@tollgate/books';
import { disputeFacts } from './dispute.ts';
import { publicEvent, type PublicEvent } from './public-object.ts';
import { paymentToken } from './refund.ts';
import { instant } from './values.ts';

/** The provider's word is kept under `status`, and ours next to it. */
const facts = ({ status, state, ...data }: DisputeFacts) => ({
  ...data,
  ...omitUndefined({ status: state }),
  reportedStatus: status,
});
type DisputeFacts = Extract<DisputeEvent, { type: 'DisputeChanged' }>['data'];

export const disputeEvents = {
  DisputeOpened: publicEvent(
    "The customer's bank opened a dispute.",
    { ...disputeFacts, paymentToken: paymentToken.exactOptional(), openedAt: instant.exactOptional() },
    { from: facts },
  ),
  DisputeChanged: publicEvent(
    'The Payment Service reported a change of the dispute: its status, and the other facts that changed.',
    {
      ...disputeFacts,
      amount: disputeFacts.amount.exactOptional(),
      currency: disputeFacts.currency.exactOptional(),
      status: disputeFacts.status.exactOptional(),
    },
    { from: facts },
  ),
  DisputeMatched: publicEvent('The disputed payment was identified.', { paymentToken }),
} satisfies Record<DisputeEventType, PublicEvent>;
