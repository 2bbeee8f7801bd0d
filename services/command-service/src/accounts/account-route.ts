/** Which accounts may take a creation, and in which order. */
import { createHash } from 'node:crypto';
import type { Environment } from '@tollgate/payment-domain';
import type { AccountConfig } from './account.ts';

export interface CreationWanted {
  environment: Environment;
  team: string;
  /** ISO 4217 alphabetic code. */
  currency: string;
  /** The payment's; decides among accounts of one priority. */
  token: string;
}

/**
 * Weighted rendezvous hashing: each account draws a number out of the token and its own name, and the highest is first.
 * The order needs no memory and does not depend on that of the configuration; an account that comes or goes moves only
 * the payments that it takes or had.
 */
export function routeOf(accounts: readonly AccountConfig[], wanted: CreationWanted): readonly string[] {
  return accounts
    .filter((account) => takes(account, wanted))
    .map((account) => ({ account, score: scoreOf(account, wanted.token) }))
    .sort(
      (a, b) =>
        a.account.priority - b.account.priority ||
        b.score - a.score ||
        (a.account.name < b.account.name ? -1 : 1),
    )
    .map(({ account }) => account.name);
}

const takes = ({ environment, teams, currencies }: AccountConfig, wanted: CreationWanted): boolean =>
  environment === wanted.environment &&
  (teams?.includes(wanted.team) ?? true) &&
  (currencies?.includes(wanted.currency) ?? true);

const drawnBits = 48;

/** With `draw` uniform in (0, 1), the highest of `-weight / ln(draw)` belongs to each account as often as its weight says. */
function scoreOf({ name, weight }: AccountConfig, token: string): number {
  const hash = createHash('sha256')
    .update(JSON.stringify([token, name]))
    .digest();
  const draw = (hash.readUIntBE(0, drawnBits / 8) + 0.5) / 2 ** drawnBits;
  return -weight / Math.log(draw);
}
