/** Who was let in, who changed what, and whether nobody has changed the log itself. */
import { type Html, html } from '@tollgate/service-kit';
import { choice } from '../components/choice.ts';
import { filterChips } from '../components/filter-chips.ts';
import { createdColumn } from '../components/list-columns.ts';
import { sign } from '../components/state.ts';
import { type List, listTable, pager, tabs } from '../components/table.ts';
import type { Page } from '../page.ts';
import { texts } from '../texts.ts';

const words = texts.securityLog;
const path = '/console/security-log';

interface Entry {
  revision: number;
  at: string;
  type: string;
  actor?: { kind: string; name?: string; team?: string; keyId?: string };
  data: Readonly<Record<string, unknown>>;
}

interface LogPage {
  entries: readonly Entry[];
  checked: number;
  faultAt?: number;
  nextCursor?: string;
}

export const securityLogPage: Page = async ({ api, query }) => {
  const [kind, team] = [query.get('kind') ?? '', query.get('team') ?? ''];
  const asked = new URLSearchParams({ perPage: '50' });
  for (const name of ['kind', 'team', 'cursor']) {
    const value = query.get(name) ?? '';
    if (value !== '') asked.set(name, value);
  }
  const [page, { teams }] = await Promise.all([
    api.get<LogPage>(`/api/v1/admin/security-log?${asked.toString()}`),
    api.get<{ teams: string[] }>('/api/v1/admin/teams'),
  ]);
  const addressOf = (name: string) => (name === 'all' ? path : `${path}?kind=${name}`);
  const main = html`<h1>${words.title}</h1>
    <p class="calm">${words.intro} <a href="/console/people">${texts.people.title}</a></p>
    ${tabs(
      words.title,
      addressOf(kind === '' ? 'all' : kind),
      Object.entries(words.views).map(([name, text]) => [text, addressOf(name)]),
    )}
    <form class="filters" action="${path}">
      ${kind === '' ? undefined : html`<input type="hidden" name="kind" value="${kind}" />`}
      ${choice('team', words.team, team, { any: words.any, options: teams.map((each) => [each, each]) })}
      <button>${words.apply}</button>
    </form>
    ${filterChips(path, query, ['kind'])}
    <section id="log" data-region="">
      ${chainSign(page)}
      ${page.entries.length === 0 ? html`<p class="empty">${words.empty}</p>` : listTable(list, page.entries)}
      ${pager(path, query, page.nextCursor)}
    </section>`;
  return { title: words.title, main };
};

function chainSign({ checked, faultAt }: LogPage): Html {
  const tone = faultAt === undefined ? 'good' : 'bad';
  const text = faultAt === undefined ? words.chained(checked) : words.broken(faultAt);
  return html`<div class="notice ${tone}">
    ${sign(tone)}
    <p>${text} ${words.whole} <code>npm run tollgate -- audit verify</code></p>
  </div>`;
}

const { columns } = words;

const list: List<Entry> = {
  name: 'security-log',
  label: words.title,
  keyOf: ({ revision }) => String(revision),
  hasDays: true,
  detail: ({ revision, data }) =>
    html`<details class="raw" id="entry-${revision}">
      <summary>${texts.payment.raw}</summary>
      <pre><code>${JSON.stringify(data, null, 2)}</code></pre>
    </details>`,
  columns: [
    { id: 'what', name: columns.what, use: 'always', cell: whatCell },
    createdColumn(columns.at, ({ at }) => at),
    { id: 'who', name: columns.who, use: 'always', cell: whoCell },
    {
      id: 'team',
      name: columns.team,
      cell: ({ data: { team } }) => (typeof team === 'string' ? team : undefined),
    },
    {
      id: 'number',
      name: columns.number,
      width: 'count',
      isNumber: true,
      isSecond: true,
      cell: ({ revision }) => String(revision),
    },
  ],
};

function whatCell({ type, data: { command, change, code, count } }: Entry): Html {
  const said = [command, change, code].find((each) => typeof each === 'string');
  return html`${words.types[type] ?? type}${said === undefined ? undefined : html` <code>${said}</code>`}
  ${typeof count === 'number' && count > 1 ? html` <small class="calm">${words.times(count)}</small>` : undefined}`;
}

function whoCell({ type, actor, data }: Entry): Html {
  const { address } = { ...Object(data['detail']), ...data } as Record<string, unknown>;
  return html`${actor === undefined || type === 'AccessRefused' ? undefined : whoOf(actor)}
  ${typeof address === 'string' ? html` <small class="calm">${words.from(address)}</small>` : undefined}`;
}

const whoOf = ({ kind, name = '', team = '', keyId = '' }: NonNullable<Entry['actor']>): string =>
  kind === 'team' ? texts.payment.by.team(team, keyId) : name;
