/** Pausing, draining and resuming a merchant account, and reading the accounts file again. */
import { type Html, html } from '@tollgate/service-kit';
import { formatGrants, mayDo } from '@tollgate/teams';
import { refusedOutcome } from '../components/notice.ts';
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
  return html`<div class="actions">
    ${accountChanges.map((name) => changeForm(name, accounts, session.csrf))}
    ${hasFile ? reloadForm(session.csrf) : undefined}
  </div>`;
}

function changeForm(name: AccountChange, accounts: readonly Account[], csrf: string): Html | undefined {
  const possible = accounts.filter(({ state }) => from[name].includes(state));
  if (possible.length === 0) return undefined;
  const options = possible.map(
    ({ environment, account }) =>
      html`<option value="${environment}/${account}">${account} (${environment})</option>`,
  );
  return html`<details class="action" name="action">
    <summary>${words[name].name}</summary>
    <form method="post" action="${path}/${name}">
      <p>${words[name].says}</p>
      <label
        >${words.account}<select name="account" required>
          ${options}
        </select></label
      >
      <label>${words.reason}<input name="reason" required maxlength="1000" autocomplete="off" /></label>
      <input type="hidden" name="csrf" value="${csrf}" />
      <button class="${name === 'resume' ? 'strong' : 'strong grave'}">${words[name].does}</button>
    </form>
  </details>`;
}

const reloadForm = (csrf: string): Html =>
  html`<details class="action" name="action">
    <summary>${words.reload.name}</summary>
    <form method="post" action="${path}/reload">
      <p>${words.reload.says}</p>
      <input type="hidden" name="csrf" value="${csrf}" />
      <button class="strong">${words.reload.does}</button>
    </form>
  </details>`;

/** What a form of that name asks of the API. */
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
    return {
      location: path,
      outcome:
        answer.kind === 'answer' ? { isDone: true, text: words[name].done(asked) } : refusedOutcome(answer),
    };
  };

interface Reloaded {
  added: readonly string[];
  changed: readonly string[];
  removed: readonly string[];
}

export const reloadAccounts: Action = async ({ api }) => {
  const answer = await api.call<Reloaded>({ method: 'POST', path: '/api/v1/admin/accounts/reload' });
  if (answer.kind === 'answer')
    return { location: path, outcome: { isDone: true, text: words.reload.done(answer.body) } };
  return { location: path, outcome: refusedOutcome(answer) };
};
