/** API tokens and console sessions: a person's own, and all of them for admins. */
import type { AnswerOf } from '@tollgate/gateway-api/http';
import { type Html, html } from '@tollgate/service-kit';
import { mayDo } from '@tollgate/teams';
import { buttonForm } from '../components/form.ts';
import { timeColumn } from '../components/list-columns.ts';
import { outcomeSection, answered } from '../components/notice.ts';
import { type List, column, listTable } from '../components/table.ts';
import type { Action, Page, PageContext } from '../page.ts';
import { texts } from '../texts.ts';

const kindNames = { token: 'API token', session: 'Console session' };
const path = '/console/people';

type Credential = AnswerOf<'Me'>['credentials'][number];

const managesPeople = ({ session }: Pick<PageContext, 'session'>): boolean =>
  mayDo(session.grants, 'operators:manage', 'everywhere');

export const peoplePage: Page = async (context) => {
  const { api, query, outcome } = context;
  const isAll = managesPeople(context);
  const person = isAll ? (query.get('person') ?? '') : '';
  const asked = person === '' ? '' : `?${new URLSearchParams({ person }).toString()}`;
  const { credentials } = await api.get<'Me' | 'CredentialList'>(
    isAll ? `/api/v1/admin/credentials${asked}` : '/api/v1/admin/me',
  );
  const main = html`<h1>${texts.nav.people}</h1>
    <p class="calm">
      ${isAll ? 'API tokens and console sessions of all people. Revoking takes effect within a second.' : 'Your API tokens and console sessions. Revoking takes effect within a second.'}
    </p>
    ${outcomeSection(outcome)}
    ${person === '' ? undefined : revokeForm(context, { person }, `Revoke all of ${person}`)}
    ${credentials.length === 0 ? html`<p class="empty">No tokens or sessions.</p>` : tableOf(context, credentials)}`;
  return { title: texts.nav.people, main };
};

function tableOf(context: PageContext, credentials: readonly Credential[]): Html {
  const list: List<Credential> = {
    name: 'people',
    label: texts.nav.people,
    keyOf: ({ id }) => id,
    columns: [
      column('person', 'Person', personCell),
      column('state', 'Kind', (each) => kindCell(each, context)),
      timeColumn('issued', 'Issued', ({ issuedAt }) => issuedAt, {}),
      timeColumn('expires', 'Expires', ({ expiresAt }) => expiresAt, {}),
      column('id', 'Id', ({ id }) => html`<code title="${id}">${id}</code>`, {
        width: 'state',
        isSecond: true,
      }),
      column('revoke', 'Revoke', ({ id }) => revokeForm(context, { credentialId: id }, 'Revoke'), {
        width: 'word',
      }),
    ],
  };
  return listTable(list, credentials);
}

function personCell({ person }: Credential): Html {
  const address = `${path}?${new URLSearchParams({ person }).toString()}`;
  return html`<a href="${address}" title="${person}">${person}</a>`;
}

const kindCell = ({ id, kind, address }: Credential, { session }: PageContext): Html =>
  html`${kindNames[kind]}
  ${address === undefined ? undefined : html` <small class="calm">from ${address}</small>`}
  ${id === session.id ? html` <small class="calm">this session</small>` : undefined}`;

const revokeForm = (
  { session: { csrf } }: PageContext,
  what: Readonly<Record<string, string>>,
  text: string,
): Html => buttonForm(path, { ...what, csrf }, html`<button class="grave">${text}</button>`);

export const revokeCredentials: Action = async (context, form) => {
  const [credentialId, person] = [form.get('credentialId'), form.get('person')];
  const route = managesPeople(context) ? 'credentials/revoke' : 'me/revoke';
  const answer = await context.api.post<{ revoked: unknown[] }>(
    `/api/v1/admin/${route}`,
    credentialId === null ? { person: person ?? '' } : { credentialId },
  );
  return answered(answer, path, ({ revoked }) =>
    revoked.length === 1 ? 'Revoked.' : `Revoked ${revoked.length} tokens and sessions.`,
  );
};
