/** Security log: rejected access, changes of teams and people's actions, and the state of its hash chain. */
import type { AnswerOf } from '@tollgate/gateway-api/http';
import { type Html, html } from '@tollgate/service-kit';
import { queryOf } from '../api.ts';
import { optionsOf } from '../components/choice.ts';
import { filterForm } from '../components/filters.ts';
import { teamPath } from '../components/keys.ts';
import { countColumn, createdColumn } from '../components/list-columns.ts';
import { listPage } from '../components/list-page.ts';
import { type LogEntry, changeNames, logSentence } from '../components/log-sentence.ts';
import { sign } from '../components/state.ts';
import { type List, column, tabs } from '../components/table.ts';
import { raw } from '../components/timeline-items.ts';
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

export const securityLogPage: Page = async (context) => {
  const { api, query } = context;
  const kind = query.get('kind') ?? '';
  const asked = queryOf(query, ['kind', 'team', 'person', 'change', 'cursor'], { perPage: '50' });
  const [page, { teams }] = await Promise.all([
    api.get<'SecurityLog'>(`/api/v1/admin/security-log?${asked.toString()}`),
    api.get<'TeamNames'>('/api/v1/admin/teams'),
  ]);
  const addressOf = (name: string) => (name === 'all' ? path : `${path}?kind=${name}`);
  return listPage(context, {
    title: texts.nav.securityLog,
    path,
    list,
    rows: page.entries,
    nextCursor: page.nextCursor,
    none: 'No entries on this page.',
    note: html`Rejected access, changes of teams and keys, and actions of people.
      <a href="/console/people">${texts.nav.people}</a>`,
    tabs: tabs(
      texts.nav.securityLog,
      addressOf(kind === '' ? 'all' : kind),
      Object.entries(viewNames).map(([name, text]) => [text, addressOf(name)]),
    ),
    filters: filterForm(path, query, {
      kind: 'hidden',
      person: 'text',
      change: Object.entries(changeNames),
      team: optionsOf(teams),
    }),
    shownElsewhere: ['kind'],
    after: chainSign(page),
    isStill: true,
  });
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
  detail: ({ revision, data }) => raw(`entry-${revision}`, data),
  columns: [
    column('entry', 'Entry', whatCell, { use: 'always' }),
    createdColumn('Time', ({ at }) => at),
    column('team', 'Team', teamCell, { width: 'name' }),
    countColumn('number', 'No.', ({ revision }) => revision, { isSecond: true }),
  ],
};

/** Names in the detail of a command and in the entry itself. */
const namesIn = ({ data }: LogEntry): Readonly<Record<string, unknown>> => ({
  ...(data['detail'] as object | undefined),
  ...data,
});

function teamCell(logged: LogEntry): Html | undefined {
  const { team } = namesIn(logged);
  return typeof team === 'string' ? html`<a href="${teamPath(team)}">${team}</a>` : undefined;
}

function whatCell(logged: LogEntry): Html {
  const { address, environment } = namesIn(logged);
  const isShown = logged.type !== 'AccessRefused' && typeof address === 'string' && address !== '';
  const from = isShown ? `from ${address}` : '';
  const notes = [typeof environment === 'string' ? environment : '', from].filter((note) => note !== '');
  return html`${logSentence(logged)}
  ${notes.length === 0 ? undefined : html` <small class="calm">${notes.join(', ')}</small>`}`;
}
