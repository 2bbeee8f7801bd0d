/** What bounds the money of a team: the wallet that its payouts are taken from. */
import type { Decision } from '@tollgate/payment-domain';
import { z } from 'zod';

export const walletNameSchema = z
  .string()
  .regex(
    /^[a-z][a-z0-9-]{0,62}$/,
    'must be 1 to 63 lower-case letters, digits and hyphens, beginning with a letter',
  );

/**
 * What bounds a team's payouts. `own`: what it took itself and has not given back or paid out; `shared`: the same of all
 * teams that name this wallet; `provider`: nothing of ours, only the balance at the provider.
 */
export const walletSchema = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('own') }),
  z.object({ kind: z.literal('shared'), name: walletNameSchema }),
  z.object({ kind: z.literal('provider') }),
]);
export type Wallet = z.infer<typeof walletSchema>;

const ownWallet: Wallet = { kind: 'own' };

interface ChooseWallet {
  type: 'ChooseWallet';
  wallet: Wallet;
}
export type MoneyCommand = ChooseWallet;

export const moneyEventSchemas = {
  WalletChosen: z.object({ wallet: walletSchema }),
} as const;
type MoneyEventType = keyof typeof moneyEventSchemas;
export type MoneyEvent = {
  [Type in MoneyEventType]: { type: Type; data: z.infer<(typeof moneyEventSchemas)[Type]> };
}[MoneyEventType];

export interface MoneySettings {
  wallet: Wallet;
}
export const noMoneySettings: MoneySettings = { wallet: ownWallet };

export function decideMoney(
  { wallet: known }: MoneySettings,
  { wallet }: MoneyCommand,
): Decision<MoneyEvent, never> {
  return {
    kind: 'events',
    events: isSameWallet(known, wallet) ? [] : [{ type: 'WalletChosen', data: { wallet } }],
  };
}

export const evolveMoney = (settings: MoneySettings, { data: { wallet } }: MoneyEvent): MoneySettings => ({
  ...settings,
  wallet,
});

const isSameWallet = (one: Wallet, other: Wallet): boolean =>
  one.kind === other.kind && (one.kind !== 'shared' || other.kind !== 'shared' || one.name === other.name);
