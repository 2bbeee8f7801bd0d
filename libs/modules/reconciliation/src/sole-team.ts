import type { Account } from '@tollgate/core';

/**
 * The only possible team of an account: the one in its configuration, or the only one that exists. Undefined if there are
 * several: an operation without an owner must not be shown to any of them.
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
