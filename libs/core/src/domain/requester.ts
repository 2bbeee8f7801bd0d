/** The requester of an operation, with the limits of its team and key. */
import { type Environment, environmentSchema } from './values.ts';
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

/** The name of a wallet in the ledger. All teams that leave the bound to the provider share `provider`. */
export const walletNameOf = ({ team, wallet }: { team: string; wallet: Wallet }): string => {
  if (wallet.kind === 'provider') return providerWallet;
  return wallet.kind === 'own' ? `team-${team}` : `wallet-${wallet.name}`;
};
/** The team that has a wallet alone; undefined for one that is shared. */
export const ownWalletTeam = (wallet: string): string | undefined => /^team-(.+)$/.exec(wallet)?.[1];

/** Nothing of ours bounds payouts from it. */
export const providerWallet = 'provider';

export const limitedOperations = ['payment', 'refund', 'payout'] as const;
export type LimitedOperation = (typeof limitedOperations)[number];

const limitShape = {
  environment: environmentSchema,
  operation: z.enum(limitedOperations),
  /** ISO 4217 alphabetic code. */
  currency: z.string(),
  /** The limited key; the whole team if absent. */
  keyId: z.string().optional(),
  /** Minor units; null: not limited. */
  perCall: z.int().min(1).nullable(),
  perDay: z.int().min(1).nullable(),
};
export const limitSchema = z.object(limitShape);
/** What may be asked for in one call, and on one day in UTC. */
export type MoneyLimit = z.infer<typeof limitSchema>;

/** The team that asks for an operation. */
export interface Requester {
  team: string;
  keyId: string;
  environment: Environment;
  /** The person who operates the gateway and asks for the team; absent where the team asks. */
  operator?: { person: string };
  allowedOrigins: AllowedOrigins;
  /** What its payouts are taken from. */
  wallet: Wallet;
  /** Above which sum its payouts wait for a second key, minor units by currency; absent where none does. */
  approvalAbove?: Readonly<Record<string, number>>;
  /** What bounds its sums; absent where nothing does. */
  limits?: readonly MoneyLimit[];
}

/** Where the URLs of a team's requests may point (`isAllowedOrigin`, `isAllowedRedirect`). */
interface AllowedOrigins {
  callback: readonly string[];
  /** Undefined until the team has set a list. */
  redirect: readonly string[] | undefined;
}
