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
import { examplePayout, payoutTerms } from './payout.ts';
import { oneOf, publicEvent, type PublicEvent } from './public-object.ts';
import { callbackEvents, reviewEvents } from './review.ts';
import { declineReason, errors, example, instant, reason, sendBy } from './values.ts';

const call = z
  .object({
    providerOrderNumber: z.string().describe('The order number at the Payment Service.'),
    sendBy,
  })
  .describe('The one announced call that makes the payout.');
const status = oneOf(payoutStatuses);

const outcomeSource = oneOf(['answer', 'inquiry'], 'Source: the answer to the call, or a status inquiry.');
const keyId = z.string().describe('The id of the key.');
const lapsesAt = instant.describe('Latest time to approve it, and then to send it.');

const approved = { status: 'approved', phase: 'approved' };
const declined = { declineReason: 'card expired' };
const exampleTerms = {
  amount: examplePayout.amount,
  currency: examplePayout.currency,
  orderNumber: examplePayout.orderNumber,
  destination: examplePayout.destination,
};

export const payoutEvents = {
  PayoutApprovalRequested: publicEvent(
    'A team requested a payout that needs approval. Its amount is reserved, and nothing is sent.',
    {
      both: { ...payoutTerms.both, lapsesAt },
      inAnswers: { ...payoutTerms.inAnswers, askedBy: keyId },
      from: ({ terms, askedBy, lapsesAt: until }: PayoutEventOf<'PayoutApprovalRequested'>['data']) => ({
        ...terms,
        askedBy,
        lapsesAt: until,
      }),
    },
    { ...exampleTerms, lapsesAt: example.instant },
    { phase: 'awaiting_approval' },
  ),
  PayoutApprovalGranted: publicEvent(
    'The payout was approved. It is sent when the team repeats its request.',
    { both: { lapsesAt }, inAnswers: { grantedBy: keyId } },
    { lapsesAt: example.instant },
    { phase: 'approval_granted' },
  ),
  PayoutApprovalRefused: publicEvent(
    'The payout was refused by an approver.',
    { both: { reason }, inAnswers: { refusedBy: keyId } },
    { reason: 'Not ours.' },
    { phase: 'awaiting_approval' },
  ),
  PayoutRequested: publicEvent(
    'A team requested a payout. Nothing has been sent to the Payment Service yet.',
    {
      both: { ...payoutTerms.both, call },
      inAnswers: payoutTerms.inAnswers,
      from: ({ terms, call: announced }: PayoutEventOf<'PayoutRequested'>['data']) => ({
        ...terms,
        call: announced,
      }),
    },
    { ...exampleTerms, call: { providerOrderNumber: examplePayout.token, sendBy: example.sendBy } },
  ),
  PayoutAccepted: publicEvent(
    'The Payment Service accepted the payout.',
    {
      both: { source: outcomeSource },
      from: ({ evidence }: PayoutEventOf<'PayoutAccepted'>['data']) => ({ source: evidence }),
    },
    { source: 'answer' },
    { status: 'pending', phase: 'pending' },
  ),
  PayoutRefused: publicEvent(
    'The Payment Service refused the payout; no money moved.',
    { both: { errors } },
    { errors: [example.refusal] },
  ),
  PayoutNotSent: publicEvent(
    'The call was provably never sent.',
    { both: { reason } },
    { reason: 'connection refused' },
  ),
  PayoutUnresolved: publicEvent(
    'The call was sent and its answer was lost. The gateway inquires about its status.',
    { both: { reason } },
    { reason: 'timeout' },
    { phase: 'unresolved' },
  ),
  PayoutApproved: publicEvent('The payout was approved.', { both: {} }, {}, approved),
  PayoutDeclined: publicEvent(
    'The payout was declined.',
    { both: { declineReason: declineReason.exactOptional() } },
    declined,
    { status: 'declined', phase: 'declined', ...declined },
  ),
  PayoutFailed: publicEvent(
    'The payout failed. No money moved.',
    { both: { reason: oneOf(payoutFailureSchema.options) } },
    { reason: 'refused' },
    { status: 'declined', phase: 'failed', errors: [example.refusal] },
  ),
  FinalStatusRevised: publicEvent(
    'The Payment Service changed a final status.',
    { both: { from: status, to: status, declineReason: declineReason.exactOptional() } },
    { from: 'declined', to: 'approved' },
    approved,
  ),
  ...callbackEvents(approved),
  ...reviewEvents(payoutReviewCodes, approved),
} satisfies Record<PayoutEventType, PublicEvent>;

/** An event's data without the fingerprint, the provider's tokens and the account. */
export const toPublicPayoutEventData = ({ type, data }: PayoutEvent): Record<string, unknown> =>
  payoutEvents[type].toAnswer(data);
