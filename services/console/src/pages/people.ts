/** API tokens and console sessions: a person's own, and all of them for admins. */
import type { AnswerOf } from '@tollgate/gateway-api/http';
import { type Html, html } from '@tollgate/service-kit';
import { mayDo } from '@tollgate/teams';
import { timeColumn } from '../components/list-columns.ts';
import { outcomeSection, answered } from '../components/notice.ts';
import { type List, listTable } from '../components/table.ts';
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
      {
        id: 'person',
        name: 'Person',
        cell: ({ person }) =>
          html`<a href="${path}?${new URLSearchParams({ person }).toString()}" title="${person}"
            >${person}</a
          >`,
      },
      { id: 'state', name: 'Kind', cell: (each) => kindCell(each, context) },
      { ...timeColumn('issued', 'Issued', ({ issuedAt }: Credential) => issuedAt), use: 'always' },
      { ...timeColumn('expires', 'Expires', ({ expiresAt }: Credential) => expiresAt), use: 'always' },
      {
        id: 'id',
        name: 'Id',
        width: 'state',
        isSecond: true,
        cell: ({ id }) => html`<code title="${id}">${id}</code>`,
      },
      {
        id: 'revoke',
        name: 'Revoke',
        width: 'word',
        cell: ({ id }) => revokeForm(context, { credentialId: id }, 'Revoke'),
      },
    ],
  };
  return listTable(list, credentials);
}

const kindCell = ({ id, kind, address }: Credential, { session }: PageContext): Html =>
  html`${kindNames[kind]}
  ${address === undefined ? undefined : html` <small class="calm">from ${address}</small>`}
  ${id === session.id ? html` <small class="calm">this session</small>` : undefined}`;

const revokeForm = (
  { session }: PageContext,
  what: { credentialId: string } | { person: string },
  text: string,
): Html =>
  html`<form method="post" action="${path}">
    ${Object.entries(what).map(([name, value]) => html`<input type="hidden" name="${name}" value="${value}" />`)}
    <input type="hidden" name="csrf" value="${session.csrf}" />
    <button class="grave">${text}</button>
  </form>`;

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
