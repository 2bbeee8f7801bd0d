/** What the commands of the sandbox have in common. */
import type { CommandResult } from '@tollgate/service-kit/command-line';
import { InvalidArgumentError } from 'commander';
import { z } from 'zod';
import type { CallGateway } from '../gateway-calls.ts';
import { type SandboxCalls, SandboxRefusal } from './sandbox-calls.ts';

/** What the commands work with. */
export interface SandboxTools extends SandboxCalls {
  /** @throws StartupError where the demo team has no key */
  gateway(): CallGateway;
  /** Differs at each call. */
  newOrderNumber(): string;
}

export const paymentAnswer = z.looseObject({
  payment: z.looseObject({ token: z.string(), status: z.string(), amount: z.int(), currency: z.string() }),
});
export const ledgerAnswer = z.looseObject({
  payments: z.array(
    z.looseObject({
      ...{ token: z.string(), orderNumber: z.string().nullable(), status: z.string() },
      ...{ amount: z.int(), currency: z.string(), refundedAmount: z.int() },
    }),
  ),
  refunds: z.array(z.looseObject({ token: z.string(), status: z.string(), amount: z.int() })),
  payouts: z.array(z.looseObject({ token: z.string(), status: z.string(), amount: z.int() })),
  wallets: z.array(z.looseObject({ currency: z.string() })),
});

export const done = (text: string, json: unknown): CommandResult => ({ kind: 'done', text, json });

/** The order number that the service has is the gateway's token and the number of the attempt. */
export async function serviceTokenOf({ call }: SandboxCalls, payment: string | undefined): Promise<string> {
  const { payments } = await call(ledgerAnswer, 'GET', '/sandbox/ledger');
  const found = payments.findLast(
    ({ token, orderNumber }) =>
      payment === undefined || token === payment || orderNumber?.startsWith(`${payment}.`) === true,
  );
  if (found !== undefined) return found.token;
  throw new SandboxRefusal(
    payment === undefined
      ? 'The sandbox has no payment yet: create one with the gateway first.'
      : `The sandbox has no payment ${payment}: ledger lists those that it has.`,
  );
}

export function toWholeNumber(text: string): number {
  if (!/^[1-9]\d{0,11}$/.test(text)) throw new InvalidArgumentError('It must be a whole number from 1.');
  return Number(text);
}
