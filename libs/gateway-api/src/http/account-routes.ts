/** The merchant accounts, for operators: their health, and which of them take payments. */
import { balanceQuerySchema } from '@tollgate/payment-api';
import { noQuerySchema } from './queries.ts';
import { done, get, post } from './route-parts.ts';
import type { Route } from './routes.ts';

/** An account may serve several teams. */
const ofAll = { bound: 'installation' } as const;
const reading = <Url extends string>(url: Url) =>
  ({ ...get('command-service', 'Operators', url), scopes: ['operators:read'], ...ofAll }) as const;

const everywhere =
  'Takes effect at once in the answering process, and within about a second in the others. Running calls continue. Status inquiries and callbacks continue in every state. Idempotent.';

const change = (name: 'pause' | 'drain' | 'resume', summary: string) =>
  ({
    ...post('command-service', 'Operators', `/api/v1/admin/accounts/:environment/:account/${name}`),
    summary,
    description: everywhere,
    ...ofAll,
    scopes: ['operators:accounts'],
    body: { schema: 'AccountChange', example: { reason: 'The bank has announced maintenance until 6 pm.' } },
    answers: done('The account is in that state.', 'ChangedAccount'),
    errors: ['account_not_found', 'reconciliation_due'],
  }) as const satisfies Route;

export const accountRoutes = {
  listAccountHealth: {
    ...reading('/api/v1/admin/accounts'),
    summary: 'Lists the merchant accounts: state, circuit, running calls, share, rates, oldest due inquiry',
    query: noQuerySchema,
    answers: done('The accounts, as the answering process sees them.', 'AccountList'),
  },
  retrieveAccountBalance: {
    ...reading('/api/v1/admin/accounts/:environment/:account/balance'),
    summary: 'Asks the Payment Service for the balance of a merchant account',
    query: balanceQuerySchema,
    answers: done('The balance.', 'Balance'),
    handsOnErrors: true,
    errors: ['incorrect_currency', 'invalid_param', 'account_not_found', 'provider_unavailable'],
  },
  pauseAccount: change('pause', 'Pauses an account: no call that moves money is made through it'),
  drainAccount: change(
    'drain',
    'Drains an account: it accepts no new payments and payouts, and finishes existing ones',
  ),
  resumeAccount: change('resume', 'Resumes an account that was paused or drained'),
  reloadAccounts: {
    ...post('command-service', 'Operators', '/api/v1/admin/accounts/reload'),
    summary: 'Reloads the accounts file in every process',
    description:
      'The answering process checks its file first. If the file is invalid, or an active account is missing from it, nothing changes anywhere. The other processes read their files within about a second. A process with an invalid file keeps its accounts, and reports the fault in its log and at `/readyz`. Keys in environment variables are not read again.',
    ...ofAll,
    scopes: ['operators:accounts'],
    answers: done('The changes.', 'ReloadedAccounts'),
    errors: ['accounts_file_missing', 'accounts_file_invalid'],
  },
} satisfies Record<string, Route>;
