import { currencySchema } from '@tollgate/payment-api/values';
import { z } from 'zod';
import { recordedDestinationSchema } from '../payout-records.ts';
import {
  amountField,
  reviewOpened,
  reviewResolved,
  declineReason,
  errors,
  evidenceSource,
  oneOf,
  reason,
  sendBy,
} from './event-fields.ts';

const reviewCodes = [
  ...['callback_not_applied', 'final_status_revised', 'payout_not_found', 'second_payout_found'],
  ...['service_not_readable', 'service_payout_missing', 'terms_disagree', 'unknown_status'],
];
const status = oneOf(['pending', 'approved', 'declined']);

/** What the data of each event on `gateway.payouts.v1` hold. */
export const payoutEventData = {
  PayoutRequested: z.object({
    amount: amountField,
    currency: currencySchema,
    orderNumber: z.string().describe("The team's own number."),
    destination: recordedDestinationSchema,
    call: z
      .object({
        providerOrderNumber: z.string().describe('What the Payment Service was given as the order number.'),
        sendBy,
      })
      .describe('The one announced call that makes the payout.'),
  }),
  PayoutAccepted: z.object({ evidence: evidenceSource }),
  PayoutRefused: z.object({ errors }),
  PayoutNotSent: z.object({ reason }),
  PayoutUnresolved: z.object({ reason }),
  PayoutApproved: z.object({}),
  PayoutDeclined: z.object({ declineReason }),
  PayoutFailed: z.object({ reason: oneOf(['refused', 'not-sent', 'resolved']) }),
  FinalStatusRevised: z.object({ from: status, to: status, declineReason }),
  ReviewOpened: reviewOpened(reviewCodes),
  ReviewResolved: reviewResolved(reviewCodes),
} as const;

export type PayoutEventName = keyof typeof payoutEventData;
