/** API tokens and console sessions: a person's own, and all of them for admins. */
import type { AnswerOf } from '@tollgate/gateway-api/http';
import { type Html, html } from '@tollgate/service-kit';
import { mayDo } from '@tollgate/teams';
import { outcomeSection, answered } from '../components/notice.ts';
import { rowTable } from '../components/table.ts';
import { timeInColumn, zone } from '../components/time.ts';
import type { Action, Page, PageContext } from '../page.ts';
import { texts } from '../texts.ts';

const words = texts.people;
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
  const main = html`<h1>${words.title}</h1>
    <p class="calm">${isAll ? words.intro.all : words.intro.own}</p>
    ${outcomeSection(outcome)}
    ${person === '' ? undefined : revokeForm(context, { person }, words.revokeAll(person))}
    ${credentials.length === 0 ? html`<p class="empty">${words.empty}</p>` : tableOf(context, credentials)}`;
  return { title: words.title, main };
};

function tableOf(context: PageContext, credentials: readonly Credential[]): Html {
  const { columns } = words;
  return rowTable(
    words.title,
    [
      { name: columns.person },
      { name: columns.kind },
      { name: html`${columns.issued} ${zone}` },
      { name: columns.expires },
      { name: columns.id, isSecond: true },
      { name: columns.revoke },
    ],
    credentials.map((each) => rowOf(context, each)),
  );
}

const rowOf = (context: PageContext, { id, kind, person, issuedAt, expiresAt, address }: Credential): Html =>
  html`<tr>
    <td><a href="${path}?${new URLSearchParams({ person }).toString()}">${person}</a></td>
    <td>
      ${words.kinds[kind]}
      ${address === undefined ? undefined : html` <small class="calm">${words.from(address)}</small>`}
      ${id === context.session.id ? html` <small class="calm">${words.current}</small>` : undefined}
    </td>
    <td>${timeInColumn(issuedAt)}</td>
    <td>${timeInColumn(expiresAt)}</td>
    <td class="second"><code>${id}</code></td>
    <td>${revokeForm(context, { credentialId: id }, words.revoke)}</td>
  </tr>`;

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
  const answer = await context.api.call<{ revoked: unknown[] }>({
    method: 'POST',
    path: `/api/v1/admin/${route}`,
    body: credentialId === null ? { person: person ?? '' } : { credentialId },
  });
  return answered(answer, path, ({ revoked }) => words.done(revoked.length));
};
