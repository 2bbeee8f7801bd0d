import type { Account } from '@tollgate/core';

/**
 * The only team that an account can be of: the one that its configuration names, or the only one that there is. Undefined
 * if there are several: what belongs to none of them must not be shown to any.
 */
export function soleTeamOf(
  accounts: readonly Pick<Account, 'environment' | 'name' | 'teams'>[],
  names: readonly string[],
  { environment, account }: { environment: string; account: string },
): string | undefined {
  const configured = accounts.find((each) => each.environment === environment && each.name === account);
  const [team, ...others] = configured?.teams ?? names;
  return others.length === 0 ? team : undefined;
}
