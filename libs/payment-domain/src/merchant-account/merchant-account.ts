/**
 * What operators have decided about the merchant accounts, beside what the accounts file says: which of them take something
 * new, and which are called at all. One stream for all accounts, because changes are few.
 */
import { z } from 'zod';
import type { Decision } from '../decision.ts';
import { type EventOf, eventFamily, since } from '../schema-version.ts';
import { type Environment, environmentSchema, instantSchema } from '../values.ts';

export const merchantAccountsStream = 'merchant-accounts';

/**
 * `draining`: takes no new payment and no new payout, while captures, voids and refunds go on; `paused`: no call that moves
 * money is made through it. Inquiries and callbacks go on whatever the state: what has been sent has to be found out.
 */
export const accountStates = ['active', 'draining', 'paused'] as const;
export type AccountState = (typeof accountStates)[number];

const changeSchema = z.object({
  environment: environmentSchema,
  account: z.string(),
  reason: z.string(),
  /** The person's name. */
  changedBy: z.string(),
  changedAt: instantSchema,
});

// A process of an older release would go on calling: until the last of them has ended, none of these is written.
const eventSchemas = {
  AccountPaused: since(2, changeSchema),
  AccountDrained: since(2, changeSchema),
  AccountResumed: since(2, changeSchema),
  /** Every process that calls accounts reads its accounts file again. */
  AccountsReloadRequested: since(2, z.object({ requestedAt: instantSchema })),
} as const;
export type MerchantAccountEvent = EventOf<typeof eventSchemas>;

export const { decode: decodeMerchantAccountEvent, versionOf: versionOfMerchantAccountEvent } =
  eventFamily(eventSchemas);

/** The last change of an account. */
export interface AccountChange {
  environment: Environment;
  account: string;
  state: AccountState;
  reason: string;
  /** The person's name. */
  changedBy: string;
  /** Milliseconds since the Unix epoch, by the clock of the process that decided. */
  changedAt: number;
}

export type MerchantAccounts = ReadonlyMap<string, AccountChange>;

export const noAccountChanges: MerchantAccounts = new Map();

export const merchantAccountKey = (environment: Environment, account: string): string =>
  `${environment}/${account}`;

const stateAfter = { AccountPaused: 'paused', AccountDrained: 'draining', AccountResumed: 'active' } as const;
const eventTo = { paused: 'AccountPaused', draining: 'AccountDrained', active: 'AccountResumed' } as const;

/**
 * On record also where the account is in that state already: an earlier change that got no answer from the store may take
 * effect yet, and would undo what was answered meanwhile without one.
 */
export const decideAccountChange = ({
  state,
  ...change
}: AccountChange): Decision<MerchantAccountEvent, never> => ({
  kind: 'events',
  events: [{ type: eventTo[state], data: change }],
});

export function evolveMerchantAccounts(
  accounts: MerchantAccounts,
  event: MerchantAccountEvent,
): MerchantAccounts {
  if (event.type === 'AccountsReloadRequested') return accounts;
  const { environment, account } = event.data;
  const change = { ...event.data, state: stateAfter[event.type] };
  return new Map(accounts).set(merchantAccountKey(environment, account), change);
}
