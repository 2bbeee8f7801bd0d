/** The accounts of a {@link Provider}. A permit hands out the provider for one call. */
import type * as accounts from '@tollgate/accounts';
import type { Provider } from './provider.ts';

export type Account = accounts.Account<Provider>;
export type Accounts = accounts.Accounts<Provider>;
export type ChangeableAccounts = accounts.ChangeableAccounts<Provider>;
export type Permit = accounts.Permit<Provider>;
