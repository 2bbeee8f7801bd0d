/** Security log: rejected access, changes of teams and people's actions, and the state of its hash chain. */
import type { AnswerOf } from '@tollgate/gateway-api/http';
import { type Html, html } from '@tollgate/service-kit';
import { queryOf } from '../api.ts';
import { choice } from '../components/choice.ts';
import { filterChips } from '../components/filter-chips.ts';
import { createdColumn } from '../components/list-columns.ts';
import { type LogEntry, logSentence } from '../components/log-sentence.ts';
import { entry } from '../components/payment-filters.ts';
import { sign } from '../components/state.ts';
import { type List, listTable, pager, tabs } from '../components/table.ts';
import type { Page } from '../page.ts';
import { texts } from '../texts.ts';

const words = texts.securityLog;
const path = '/console/security-log';

export const securityLogPage: Page = async ({ api, query }) => {
  const value = (name: string): string => query.get(name) ?? '';
  const asked = queryOf(query, ['kind', 'team', 'person', 'change', 'cursor'], { perPage: '50' });
  const [page, { teams }] = await Promise.all([
    api.get<'SecurityLog'>(`/api/v1/admin/security-log?${asked.toString()}`),
    api.get<'TeamNames'>('/api/v1/admin/teams'),
  ]);
  const addressOf = (name: string) => (name === 'all' ? path : `${path}?kind=${name}`);
  const { any } = words;
  const main = html`<h1>${words.title}</h1>
    <p class="calm">${words.intro} <a href="/console/people">${texts.people.title}</a></p>
    ${tabs(
      words.title,
      addressOf(value('kind') === '' ? 'all' : value('kind')),
      Object.entries(words.views).map(([name, text]) => [text, addressOf(name)]),
    )}
    <form class="filters" action="${path}">
      ${value('kind') === '' ? undefined : html`<input type="hidden" name="kind" value="${value('kind')}" />`}
      ${entry('person', words.person, value('person'))}
      ${choice('change', words.change, value('change'), { any, options: Object.entries(words.changes) })}
      ${choice('team', words.team, value('team'), { any, options: teams.map((each) => [each, each]) })}
      <button>${words.apply}</button>
    </form>
    ${filterChips(path, query, ['kind'])}
    <section id="log" data-region="">
      ${page.entries.length === 0 ? html`<p class="empty">${words.empty}</p>` : listTable(list, page.entries)}
      ${pager(path, query, page.nextCursor)} ${chainSign(page)}
    </section>`;
  return { title: words.title, main };
};

function chainSign({ checked, faultAt }: AnswerOf<'SecurityLog'>): Html {
  const tone = faultAt === undefined ? 'good' : 'bad';
  const text = faultAt === undefined ? words.chained(checked) : words.broken(faultAt);
  return html`<div class="notice ${tone}">
    ${sign(tone)}
    <p>${text} ${words.whole} <code>npm run tollgate -- audit verify</code></p>
  </div>`;
}

const { columns } = words;

const list: List<LogEntry> = {
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
    { id: 'entry', name: columns.what, use: 'always', cell: whatCell },
    createdColumn(columns.at, ({ at }) => at),
    {
      id: 'team',
      name: columns.team,
      width: 'name',
      cell: ({ data }) => {
        const { team } = { ...Object(data['detail']), ...data } as Record<string, unknown>;
        return typeof team === 'string' ? team : undefined;
      },
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

function whatCell(logged: LogEntry): Html {
  const { address, environment } = { ...Object(logged.data['detail']), ...logged.data } as Record<
    string,
    unknown
  >;
  const from =
    logged.type === 'AccessRefused' || typeof address !== 'string' || address === ''
      ? ''
      : words.from(address);
  const notes = [typeof environment === 'string' ? environment : '', from].filter((note) => note !== '');
  return html`${logSentence(logged)}
  ${notes.length === 0 ? undefined : html` <small class="calm">${notes.join(', ')}</small>`}`;
}
