/** Pauses, drains and resumes a merchant account, and reloads the accounts file. */
import type { AnswerOf } from '@tollgate/gateway-api/http';
import { type Html, html } from '@tollgate/service-kit';
import { formatGrants, mayDo } from '@tollgate/teams';
import { type ActionForm, actionRow } from '../components/actions.ts';
import { accountOptions, choice } from '../components/choice.ts';
import { answered } from '../components/notice.ts';
import type { Action, PageContext } from '../page.ts';
import { texts } from '../texts.ts';
import type { Account } from './accounts.ts';

const words = texts.accounts.changes;
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
    return html`<p class="calm">${words.notYours(formatGrants(grants))}</p>`;
  return actionRow(session.csrf, [
    ...accountChanges.map((name) => changeForm(name, accounts)),
    ...(hasFile
      ? [
          {
            name: words.reload.name,
            path: `${path}/reload`,
            says: words.reload.says,
            does: words.reload.does,
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
    fields: html`${choice('account', words.account, '', { options: accountOptions(possible) })}
      <label>${words.reason}<input name="reason" required maxlength="1000" autocomplete="off" /></label>`,
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
    const answer = await api.call({
      method: 'POST',
      path: `/api/v1/admin/accounts/${environment}/${account}/${name}`,
      body: { reason: form.get('reason') ?? '' },
    });
    return answered(answer, path, words[name].done(asked));
  };

export const reloadAccounts: Action = async ({ api }) => {
  const answer = await api.call<AnswerOf<'ReloadedAccounts'>>({
    method: 'POST',
    path: '/api/v1/admin/accounts/reload',
  });
  return answered(answer, path, words.reload.done);
};
