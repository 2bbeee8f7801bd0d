/** The API keys of all teams. */
import { type Html, html } from '@tollgate/service-kit';
import { mayDo } from '@tollgate/teams';
import { queryOf } from '../api.ts';
import { actionRow } from '../components/actions.ts';
import { optionsOf } from '../components/choice.ts';
import { filterForm } from '../components/filters.ts';
import { keyList, teamPath } from '../components/keys.ts';
import { listPage } from '../components/list-page.ts';
import { answered } from '../components/notice.ts';
import { tabs } from '../components/table.ts';
import type { Action, Page, PageContext } from '../page.ts';
import { texts } from '../texts.ts';

const viewNames = { active: 'Active keys', ended: 'Ended keys' };
const path = '/console/teams';

export const teamsPage: Page = async (context) => {
  const { api, query, now } = context;
  const state = query.get('state') === 'ended' ? 'ended' : 'active';
  const asked = queryOf(query, ['team', 'cursor'], { perPage: '50', state });
  const [list, { teams, withoutKey }] = await Promise.all([
    api.get<'KeyList'>(`/api/v1/admin/keys?${asked.toString()}`),
    api.get<'TeamNames'>('/api/v1/admin/teams'),
  ]);
  return listPage(context, {
    title: texts.nav.teams,
    path,
    list: keyList(now),
    rows: list.keys,
    nextCursor: list.nextCursor,
    none: 'No keys.',
    noneHow: 'Revoked and expired keys are listed under “Ended keys”.',
    note: 'API keys of all teams, with their scopes, expiry and last use.',
    tabs: html`${tabs(
      texts.nav.teams,
      `${path}?state=${state}`,
      (['active', 'ended'] as const).map((each) => [viewNames[each], `${path}?state=${each}`]),
    )}
    ${adding(list.isChangeable, context)}`,
    filters: filterForm(path, query, { state: 'hidden', team: optionsOf(teams) }, { given: { state } }),
    after: withoutKey.length === 0 ? undefined : keyless(withoutKey),
    isStill: true,
  });
};

const keyless = (teams: readonly string[]): Html =>
  html`<p class="calm">
    Teams without an active key: ${teams.map((team) => html` <a href="${teamPath(team)}">${team}</a>`)}
  </p>`;

function adding(isChangeable: boolean, { session }: PageContext): Html | undefined {
  if (!mayDo(session.grants, 'operators:manage', 'everywhere')) return undefined;
  if (!isChangeable)
    return html`<p class="calm">${texts.errors.noSigningKey}</p>
      <pre class="command"><code>${'npm run tollgate -- --as <you> team add <name>'}</code></pre>`;
  return actionRow(session.csrf, [
    {
      name: 'Add a team',
      path,
      says: 'Adds a team without keys. The name is part of every event and cannot be changed later.',
      fields: html`<label
        >Name: lower-case letters, digits and hyphens<input
          name="team"
          required
          maxlength="63"
          pattern="[a-z][a-z0-9\\-]*"
          autocomplete="off"
          spellcheck="false"
      /></label>`,
      does: 'Add the team',
    },
  ]);
}

export const addTeam: Action = async ({ api }, form) => {
  const team = form.get('team') ?? '';
  const answer = await api.post('/api/v1/admin/teams', { team });
  const location = answer.kind === 'refused' ? path : teamPath(team);
  return answered(answer, location, `The team ${team} is added. It needs a key.`);
};
