/** Pauses, drains and resumes a merchant account, and reloads the accounts file. */
import type { AnswerOf } from '@tollgate/gateway-api/http';
import { type Html, html } from '@tollgate/service-kit';
import { formatGrants, mayDo } from '@tollgate/teams';
import { type ActionForm, actionRow } from '../components/actions.ts';
import { accountOptions, choice } from '../components/choice.ts';
import { answered } from '../components/notice.ts';
import type { Action, PageContext } from '../page.ts';
import type { Account } from './accounts.ts';

const words = {
  pause: {
    name: 'Pause',
    says: 'The account makes no payments, captures, voids, refunds or payouts. Callers get 503 and retry later. Calls under way, status inquiries and callbacks continue.',
    does: 'Pause the account',
    done: (account: string) => `${account} is paused.`,
  },
  drain: {
    name: 'Drain',
    says: 'The account accepts no new payments and payouts; other accounts take them. Captures, voids and refunds of existing payments continue.',
    does: 'Drain the account',
    done: (account: string) => `${account} is draining. It accepts nothing new.`,
  },
  resume: {
    name: 'Resume',
    says: 'The account accepts payments and payouts again.',
    does: 'Resume the account',
    done: (account: string) => `${account} is active.`,
  },
};
const path = '/console/accounts';

export const accountChanges = ['pause', 'drain', 'resume'] as const;
type AccountChange = (typeof accountChanges)[number];

const from: Record<AccountChange, readonly Account['state'][]> = {
  pause: ['active', 'draining'],
  drain: ['active', 'paused'],
  resume: ['draining', 'paused'],
};

export function changeForms(
  { accounts, hasFile }: { accounts: readonly Account[]; hasFile: boolean },
  { session }: Pick<PageContext, 'session'>,
): Html {
  const { grants } = session;
  if (!mayDo(grants, 'operators:accounts', 'everywhere'))
    return html`<p class="calm">
      Operators and admins pause accounts; your role is ${formatGrants(grants)}.
    </p>`;
  return actionRow(session.csrf, [
    ...accountChanges.map((name) => changeForm(name, accounts)),
    ...(hasFile
      ? [
          {
            name: 'Reload the accounts file',
            path: `${path}/reload`,
            says: 'Every process reads its accounts file again. An invalid file changes nothing.',
            does: 'Reload',
            isHarmless: true,
          },
        ]
      : []),
  ]);
}

function changeForm(name: AccountChange, accounts: readonly Account[]): ActionForm {
  const possible = accounts.filter(({ state }) => from[name].includes(state));
  return {
    name: words[name].name,
    path: `${path}/${name}`,
    says: words[name].says,
    fields: html`${choice('account', 'Account', '', { options: accountOptions(possible) })}
      <label>Reason (shown here)<input name="reason" required maxlength="1000" autocomplete="off" /></label>`,
    does: words[name].does,
    isHarmless: name === 'resume',
    isAllowed: possible.length > 0,
  };
}

/** The API call of each form. */
export const changeAccount =
  (name: AccountChange): Action =>
  async ({ api }, form) => {
    const asked = form.get('account') ?? '';
    const [environment = '', account = ''] = asked.split('/', 2).map(encodeURIComponent);
    const reason = form.get('reason') ?? '';
    const answer = await api.post(`/api/v1/admin/accounts/${environment}/${account}/${name}`, { reason });
    return answered(answer, path, words[name].done(asked));
  };

export const reloadAccounts: Action = async ({ api }) =>
  answered(await api.post<AnswerOf<'ReloadedAccounts'>>('/api/v1/admin/accounts/reload'), path, reloadedText);

const listOf = (names: readonly string[]): string => names.join(', ') || 'none';

const reloadedText = ({ added, changed, removed }: AnswerOf<'ReloadedAccounts'>): string =>
  added.length + changed.length + removed.length === 0
    ? 'Reloaded. Nothing changed.'
    : `Reloaded. Added: ${listOf(added)}. Changed: ${listOf(changed)}. Removed: ${listOf(removed)}.`;
