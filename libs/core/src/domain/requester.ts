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
 * The limit of a team's payouts. `own`: its own income, less refunds and payouts; `shared`: the same for all teams of this
 * wallet; `provider`: only the balance at the provider.
 */
export const walletSchema = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('own') }),
  z.object({ kind: z.literal('shared'), name: walletNameSchema }),
  z.object({ kind: z.literal('provider') }),
]);
export type Wallet = z.infer<typeof walletSchema>;

/** The name of a wallet in the ledger. All teams limited only by the provider share `provider`. */
export const walletNameOf = ({ team, wallet }: { team: string; wallet: Wallet }): string => {
  if (wallet.kind === 'provider') return providerWallet;
  return wallet.kind === 'own' ? `team-${team}` : `wallet-${wallet.name}`;
};
/** The team of an unshared wallet; undefined for a shared one. */
export const ownWalletTeam = (wallet: string): string | undefined => /^team-(.+)$/.exec(wallet)?.[1];

/** Payouts from it are limited only by the provider. */
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
  /** Minor units; null: no limit. */
  perCall: z.int().min(1).nullable(),
  perDay: z.int().min(1).nullable(),
};
export const limitSchema = z.object(limitShape);
/** Limits of one call and of one day in UTC. */
export type MoneyLimit = z.infer<typeof limitSchema>;

/** The team that requests an operation. */
export interface Requester {
  team: string;
  keyId: string;
  environment: Environment;
  /** The operator who acts for the team; absent if the team itself acts. */
  operator?: { person: string };
  allowedOrigins: AllowedOrigins;
  wallet: Wallet;
  /** Payouts above this sum wait for a second key, minor units by currency; absent if none do. */
  approvalAbove?: Readonly<Record<string, number>>;
  limits?: readonly MoneyLimit[];
}

/** Origins that the URLs of its requests may use (`isAllowedOrigin`, `isAllowedRedirect`). */
interface AllowedOrigins {
  callback: readonly string[];
  /** Undefined until the team has set a list. */
  redirect: readonly string[] | undefined;
}
