/** The query of `GET /api/v1/payments`. */
import { currencySchema, paymentStatusSchema } from '@tollgate/payment-api/values';
import { paymentPhases } from '@tollgate/payment-domain';
import { perPageMax, type Caller, type PaymentListQuery } from '@tollgate/read-models';
import { given } from '@tollgate/service-kit';
import { z } from 'zod';

const dayMs = 86_400_000;

const wholeNumberSchema = z
  .string('must be given once')
  .regex(/^[1-9]\d{0,8}$/, 'must be a whole number from 1')
  .transform(Number);

const flagSchema = z.enum(['true', 'false'], 'must be true or false').transform((text) => text === 'true');

/** A day in UTC as its first millisecond. */
const daySchema = z.iso.date('must be a date written YYYY-MM-DD').transform((text) => Date.parse(text));

const listQuerySchema = z
  .strictObject({
    status: paymentStatusSchema.optional(),
    phase: z.enum(paymentPhases).optional(),
    orderNumber: z
      .string('must be given once')
      .min(1, 'must not be empty')
      .max(255, 'must be at most 255 characters')
      .optional(),
    currency: currencySchema.optional(),
    dateFrom: daySchema.optional(),
    dateTo: daySchema.optional(),
    attention: flagSchema.optional(),
    perPage: wholeNumberSchema
      .refine((count) => count <= perPageMax, `must be at most ${perPageMax}`)
      .default(20),
    page: wholeNumberSchema.optional(),
    cursor: z.string('must be given once').max(512, 'must be at most 512 characters').optional(),
    withTotal: flagSchema.optional(),
    // The specification's filter by kind of operation. Payouts are no payments, so they are no part of this list.
    operationType: z.enum(['pays', 'all'], 'must be pays or all').optional(),
  })
  .refine(({ page, cursor }) => page === undefined || cursor === undefined, {
    path: ['page'],
    message: 'must be left out where a cursor is given',
  });

/** What a caller's query string asks for. Both dates are inclusive. */
export function parseListQuery(caller: Caller, query: unknown): z.ZodSafeParseResult<PaymentListQuery> {
  const { team, environment } = caller;
  return listQuerySchema
    .transform(({ dateFrom, dateTo, perPage, ...filters }): PaymentListQuery => {
      const { status, phase, orderNumber, currency, attention, page, cursor, withTotal } = filters;
      const createdBefore = dateTo === undefined ? undefined : dateTo + dayMs;
      const columns = {
        status,
        phase,
        orderNumber,
        currency,
        attention,
        createdFrom: dateFrom,
        createdBefore,
      };
      return { team, environment, perPage, ...given({ ...columns, page, cursor, withTotal }) };
    })
    .safeParse(query);
}
