/** An operator moves money between two wallets of a merchant account (stream `transfer-<token>`). */
import { environmentSchema, textSchema } from '@tollgate/core';
import { amountSchema, currencySchema } from '@tollgate/core/money';
import { InvariantViolation } from '@tollgate/service-kit';
import { z } from 'zod';
import { type EventOf, eventFamily } from '@tollgate/event-store';

export const transferStreamPrefix = 'transfer-';
export const transferStream = (token: string): string => `${transferStreamPrefix}${token}`;

export const transferSchema = z.object({
  environment: environmentSchema,
  account: textSchema,
  currency: currencySchema,
  amount: amountSchema,
  /** Wallets, as `walletNameOf` names them. */
  from: textSchema,
  to: textSchema,
  reason: textSchema,
});
export type Transfer = z.infer<typeof transferSchema>;

const transferEventSchemas = { WalletTransferred: transferSchema } as const;
export type TransferEvent = EventOf<typeof transferEventSchemas>;

export const { decode: decodeTransferEvent } = eventFamily(transferEventSchemas);

/** @throws InvariantViolation for a second event */
export function evolveTransfer(state: Transfer | undefined, { data }: TransferEvent): Transfer {
  if (state !== undefined) throw new InvariantViolation('money was transferred a second time');
  return data;
}
