/** Security log: rejected access, changes of teams and people's actions, and the state of its hash chain. */
import type { AnswerOf } from '@tollgate/gateway-api/http';
import { type Html, html } from '@tollgate/service-kit';
import { queryOf } from '../api.ts';
import { choice } from '../components/choice.ts';
import { filterChips } from '../components/filter-chips.ts';
import { teamPath } from '../components/keys.ts';
import { createdColumn } from '../components/list-columns.ts';
import { type LogEntry, changeNames, logSentence } from '../components/log-sentence.ts';
import { entry } from '../components/payment-filters.ts';
import { sign } from '../components/state.ts';
import { type List, listTable, pager, tabs } from '../components/table.ts';
import type { Page } from '../page.ts';
import { texts } from '../texts.ts';

const viewNames = {
  all: 'All',
  team: 'Teams and keys',
  operator: 'People',
  review: 'Decisions',
  access: 'Rejected access',
  export: 'Exports',
};
const path = '/console/security-log';

export const securityLogPage: Page = async ({ api, query }) => {
  const value = (name: string): string => query.get(name) ?? '';
  const asked = queryOf(query, ['kind', 'team', 'person', 'change', 'cursor'], { perPage: '50' });
  const [page, { teams }] = await Promise.all([
    api.get<'SecurityLog'>(`/api/v1/admin/security-log?${asked.toString()}`),
    api.get<'TeamNames'>('/api/v1/admin/teams'),
  ]);
  const addressOf = (name: string) => (name === 'all' ? path : `${path}?kind=${name}`);
  const main = html`<h1>${texts.nav.securityLog}</h1>
    <p class="calm">
      Rejected access, changes of teams and keys, and actions of people.
      <a href="/console/people">${texts.nav.people}</a>
    </p>
    ${tabs(
      texts.nav.securityLog,
      addressOf(value('kind') === '' ? 'all' : value('kind')),
      Object.entries(viewNames).map(([name, text]) => [text, addressOf(name)]),
    )}
    <form class="filters" action="${path}">
      ${value('kind') === '' ? undefined : html`<input type="hidden" name="kind" value="${value('kind')}" />`}
      ${entry('person', 'Person', value('person'))}
      ${choice('change', 'Change', value('change'), { any: 'any', options: Object.entries(changeNames) })}
      ${choice('team', 'Team', value('team'), { any: 'any', options: teams.map((each) => [each, each]) })}
      <button>Show</button>
    </form>
    ${filterChips(path, query, ['kind'])}
    <section id="log" data-region="">
      ${page.entries.length === 0 ? html`<p class="empty">No entries on this page.</p>` : listTable(list, page.entries)}
      ${pager(path, query, page.nextCursor)} ${chainSign(page)}
    </section>`;
  return { title: texts.nav.securityLog, main };
};

function chainSign({ checked, faultAt }: AnswerOf<'SecurityLog'>): Html {
  const tone = faultAt === undefined ? 'good' : 'bad';
  const text =
    faultAt === undefined
      ? checked === 1
        ? 'The hash chain of this entry is intact.'
        : `The hash chain of these ${checked} entries is intact.`
      : `Entry ${faultAt} was changed, or the entry before it was removed.`;
  return html`<div class="notice ${tone}">
    ${sign(tone)}
    <p>${text} Check the whole log: <code>npm run tollgate -- audit verify</code></p>
  </div>`;
}

const list: List<LogEntry> = {
  name: 'security-log',
  label: texts.nav.securityLog,
  keyOf: ({ revision }) => String(revision),
  hasDays: true,
  detail: ({ revision, data }) =>
    html`<details class="raw" id="entry-${revision}">
      <summary>Stored event</summary>
      <pre><code>${JSON.stringify(data, null, 2)}</code></pre>
    </details>`,
  columns: [
    { id: 'entry', name: 'Entry', use: 'always', cell: whatCell },
    createdColumn('Time', ({ at }) => at),
    {
      id: 'team',
      name: 'Team',
      width: 'name',
      cell: ({ data }) => {
        const { team } = { ...Object(data['detail']), ...data } as Record<string, unknown>;
        return typeof team === 'string' ? html`<a href="${teamPath(team)}">${team}</a>` : undefined;
      },
    },
    {
      id: 'number',
      name: 'No.',
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
  const isShown = logged.type !== 'AccessRefused' && typeof address === 'string' && address !== '';
  const from = isShown ? `from ${address}` : '';
  const notes = [typeof environment === 'string' ? environment : '', from].filter((note) => note !== '');
  return html`${logSentence(logged)}
  ${notes.length === 0 ? undefined : html` <small class="calm">${notes.join(', ')}</small>`}`;
}
