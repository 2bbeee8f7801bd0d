/** The API keys of all teams. */
import { type Html, html } from '@tollgate/service-kit';
import { mayDo } from '@tollgate/teams';
import { queryOf } from '../api.ts';
import { choice } from '../components/choice.ts';
import { keyTable, teamPath } from '../components/keys.ts';
import { answered, outcomeSection } from '../components/notice.ts';
import { pager, tabs } from '../components/table.ts';
import type { Action, Page, PageContext } from '../page.ts';
import { texts } from '../texts.ts';

const viewNames = { active: 'Active keys', ended: 'Ended keys' };
const path = '/console/teams';

export const teamsPage: Page = async (context) => {
  const { api, query, outcome, now } = context;
  const state = query.get('state') === 'ended' ? 'ended' : 'active';
  const asked = queryOf(query, ['team', 'cursor'], { perPage: '50', state });
  const [list, { teams, withoutKey }] = await Promise.all([
    api.get<'KeyList'>(`/api/v1/admin/keys?${asked.toString()}`),
    api.get<'TeamNames'>('/api/v1/admin/teams'),
  ]);
  const main = html`<h1>${texts.nav.teams}</h1>
    <p class="calm">API keys of all teams, with their scopes, expiry and last use.</p>
    ${outcomeSection(outcome)}
    ${tabs(
      texts.nav.teams,
      `${path}?state=${state}`,
      (['active', 'ended'] as const).map((each) => [viewNames[each], `${path}?state=${each}`]),
    )}
    <form class="filters" action="${path}">
      <input type="hidden" name="state" value="${state}" />
      ${choice('team', 'Team', query.get('team') ?? '', { any: 'any', options: teams.map((each) => [each, each]) })}
      <button>Show</button>
    </form>
    ${adding(list.isChangeable, context)}
    <section id="keys" data-region="">
      ${list.keys.length === 0 ? none : keyTable(list.keys, now)} ${pager(path, query, list.nextCursor)}
      ${withoutKey.length === 0 ? undefined : keyless(withoutKey)}
    </section>`;
  return { title: texts.nav.teams, main };
};

const none = html`<p class="empty">
  No keys. <span class="calm">Revoked and expired keys are listed under “Ended keys”.</span>
</p>`;

const keyless = (teams: readonly string[]): Html =>
  html`<p class="calm">
    Teams without an active key: ${teams.map((team) => html` <a href="${teamPath(team)}">${team}</a>`)}
  </p>`;

function adding(isChangeable: boolean, { session }: PageContext): Html | undefined {
  if (!mayDo(session.grants, 'operators:manage', 'everywhere')) return undefined;
  if (!isChangeable)
    return html`<p class="calm">${texts.errors.noSigningKey}</p>
      <pre class="command"><code>${'npm run tollgate -- --as <you> team add <name>'}</code></pre>`;
  return html`<div class="actions">
    <details class="action">
      <summary>Add a team</summary>
      <form method="post" action="${path}">
        <p>Adds a team without keys. The name is part of every event and cannot be changed later.</p>
        <label
          >Name: lower-case letters, digits and hyphens<input
            name="team"
            required
            maxlength="63"
            pattern="[a-z][a-z0-9\\-]*"
            autocomplete="off"
            spellcheck="false"
        /></label>
        <input type="hidden" name="csrf" value="${session.csrf}" />
        <button class="strong grave">Add the team</button>
      </form>
    </details>
  </div>`;
}

export const addTeam: Action = async ({ api }, form) => {
  const team = form.get('team') ?? '';
  const answer = await api.post('/api/v1/admin/teams', { team });
  const location = answer.kind === 'refused' ? path : teamPath(team);
  return answered(answer, location, `The team ${team} is added. It needs a key.`);
};
