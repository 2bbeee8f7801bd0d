/** The public form of each payout event: its meaning, its data and an example. */
import {
  payoutFailureSchema,
  payoutReviewCodes,
  payoutStatuses,
  type PayoutEvent,
  type PayoutEventOf,
  type PayoutEventType,
} from '@tollgate/core';
import { z } from 'zod';
import { payoutTerms } from './payout.ts';
import { oneOf, publicEvent, type PublicEvent } from './public-object.ts';
import { callbackEvents, reviewEvents } from './review.ts';
import { declineReason, errors, instant, reason, sendBy } from './values.ts';

const call = z
  .object({ providerOrderNumber: z.string().describe('The order number at the Payment Service.'), sendBy })
  .describe('The one announced call that makes the payout.');
const status = oneOf(payoutStatuses);

const outcomeSource = oneOf(['answer', 'inquiry'], 'Source: the answer to the call, or a status inquiry.');
const keyId = z.string().describe('The id of the key.');
const lapsesAt = instant.describe('Latest time to approve it, and then to send it.');

export const payoutEvents = {
  PayoutApprovalRequested: publicEvent(
    'A team requested a payout that needs approval. Its amount is reserved, and nothing is sent.',
    { ...payoutTerms.both, lapsesAt },
    {
      inAnswers: { ...payoutTerms.inAnswers, askedBy: keyId },
      from: ({ terms, askedBy, lapsesAt: until }: PayoutEventOf<'PayoutApprovalRequested'>['data']) => ({
        ...terms,
        askedBy,
        lapsesAt: until,
      }),
    },
  ),
  PayoutApprovalGranted: publicEvent(
    'The payout was approved. It is sent when the team repeats its request.',
    { lapsesAt },
    { inAnswers: { grantedBy: keyId } },
  ),
  PayoutApprovalRefused: publicEvent(
    'The payout was refused by an approver.',
    { reason },
    { inAnswers: { refusedBy: keyId } },
  ),
  PayoutRequested: publicEvent(
    'A team requested a payout. Nothing has been sent to the Payment Service yet.',
    { ...payoutTerms.both, call },
    {
      inAnswers: payoutTerms.inAnswers,
      from: ({ terms, call: announced }: PayoutEventOf<'PayoutRequested'>['data']) => ({
        ...terms,
        call: announced,
      }),
    },
  ),
  PayoutAccepted: publicEvent(
    'The Payment Service accepted the payout.',
    { source: outcomeSource },
    { from: ({ evidence }: PayoutEventOf<'PayoutAccepted'>['data']) => ({ source: evidence }) },
  ),
  PayoutRefused: publicEvent('The Payment Service refused the payout; no money moved.', { errors }),
  PayoutNotSent: publicEvent('The call was provably never sent.', { reason }),
  PayoutUnresolved: publicEvent(
    'The call was sent and its answer was lost. The gateway inquires about its status.',
    { reason },
  ),
  PayoutApproved: publicEvent('The payout was made.'),
  PayoutDeclined: publicEvent('The payout was declined.', { declineReason: declineReason.exactOptional() }),
  PayoutFailed: publicEvent('The payout failed. No money moved.', {
    reason: oneOf(payoutFailureSchema.options),
  }),
  FinalStatusRevised: publicEvent('The Payment Service changed a final status.', {
    from: status,
    to: status,
    declineReason: declineReason.exactOptional(),
  }),
  ...callbackEvents,
  ...reviewEvents(payoutReviewCodes),
} satisfies Record<PayoutEventType, PublicEvent>;

/** An event's data without the fingerprint, the provider's tokens and the account. */
export const toPublicPayoutEventData = ({ type, data }: PayoutEvent): Record<string, unknown> =>
  payoutEvents[type].toAnswer(data);
