import { currencySchema } from '@tollgate/payment-api/values';
import { z } from 'zod';
import { amountField, instantSchema } from './event-fields.ts';

const status = z.string().describe('As the Payment Service tells it: the specification names no values.');
const others = {
  type: z.string().optional(),
  reasonCode: z.string().optional(),
  comment: z.string().optional(),
};
const paymentToken = z.string().describe('The payment that it is about.');

/** What the data of each event on `gateway.disputes.v1` hold. */
export const disputeEventData = {
  DisputeOpened: z.object({
    ...{ amount: amountField, currency: currencySchema, status },
    ...others,
    paymentToken: paymentToken.optional(),
    openedAt: instantSchema.optional(),
  }),
  DisputeChanged: z.object({
    status,
    amount: amountField.optional(),
    currency: currencySchema.optional(),
    ...others,
  }),
  DisputeMatched: z.object({ paymentToken }),
} as const;

export type DisputeEventName = keyof typeof disputeEventData;
