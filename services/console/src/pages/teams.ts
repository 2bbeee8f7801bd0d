/** The API keys of all teams. */
import { type Html, html } from '@tollgate/service-kit';
import { mayDo } from '@tollgate/teams';
import { queryOf } from '../api.ts';
import { choice } from '../components/choice.ts';
import { keyTable, teamPath } from '../components/keys.ts';
import { outcomeSection, refusedOutcome } from '../components/notice.ts';
import { pager, tabs } from '../components/table.ts';
import type { Action, Page, PageContext } from '../page.ts';
import { texts } from '../texts.ts';

const words = texts.teams;
const path = '/console/teams';

export const teamsPage: Page = async (context) => {
  const { api, query, outcome, now } = context;
  const state = query.get('state') === 'ended' ? 'ended' : 'active';
  const asked = queryOf(query, ['team', 'cursor'], { perPage: '50', state });
  const [list, { teams, withoutKey }] = await Promise.all([
    api.get<'KeyList'>(`/api/v1/admin/keys?${asked.toString()}`),
    api.get<'TeamNames'>('/api/v1/admin/teams'),
  ]);
  const main = html`<h1>${words.title}</h1>
    <p class="calm">${words.intro}</p>
    ${outcomeSection(outcome)}
    ${tabs(
      words.title,
      `${path}?state=${state}`,
      (['active', 'ended'] as const).map((each) => [words.views[each], `${path}?state=${each}`]),
    )}
    <form class="filters" action="${path}">
      <input type="hidden" name="state" value="${state}" />
      ${choice('team', words.team, query.get('team') ?? '', { any: words.any, options: teams.map((each) => [each, each]) })}
      <button>${words.apply}</button>
    </form>
    ${adding(list.isChangeable, context)}
    <section id="keys" data-region="">
      ${list.keys.length === 0 ? none : keyTable(list.keys, now)} ${pager(path, query, list.nextCursor)}
      ${withoutKey.length === 0 ? undefined : keyless(withoutKey)}
    </section>`;
  return { title: words.title, main };
};

const none = html`<p class="empty">${words.empty} <span class="calm">${words.emptyHow}</span></p>`;

const keyless = (teams: readonly string[]): Html =>
  html`<p class="calm">
    ${words.withoutKey} ${teams.map((team) => html` <a href="${teamPath(team)}">${team}</a>`)}
  </p>`;

function adding(isChangeable: boolean, { session }: PageContext): Html | undefined {
  if (!mayDo(session.grants, 'operators:manage', 'everywhere')) return undefined;
  const { add } = words;
  if (!isChangeable)
    return html`<p class="calm">${words.notHere}</p>
      <pre class="command"><code>${words.addCommand}</code></pre>`;
  return html`<div class="actions">
    <details class="action">
      <summary>${add.name}</summary>
      <form method="post" action="${path}">
        <p>${add.says}</p>
        <label
          >${add.label}<input
            name="team"
            required
            maxlength="63"
            pattern="[a-z][a-z0-9\\-]*"
            autocomplete="off"
            spellcheck="false"
        /></label>
        <input type="hidden" name="csrf" value="${session.csrf}" />
        <button class="strong grave">${add.does}</button>
      </form>
    </details>
  </div>`;
}

export const addTeam: Action = async ({ api }, form) => {
  const team = form.get('team') ?? '';
  const answer = await api.call({ method: 'POST', path: '/api/v1/admin/teams', body: { team } });
  if (answer.kind === 'answer')
    return { location: teamPath(team), outcome: { isDone: true, text: words.add.done(team) } };
  return { location: path, outcome: refusedOutcome(answer) };
};
