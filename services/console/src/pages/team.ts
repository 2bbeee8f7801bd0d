/** One team: its keys, its settings, and the forms to change them. */
import { type Html, html } from '@tollgate/service-kit';
import { formatGrants, mayDo, scopesToGive } from '@tollgate/teams';
import { environmentSchema } from '@tollgate/core';
import { type ActionForm, actionRow } from '../components/actions.ts';
import { choice } from '../components/choice.ts';
import { type Key, keyTable, teamPath, usedText } from '../components/keys.ts';
import type { Rendered } from '../components/layout.ts';
import { errorText, outcomeSection, answered } from '../components/notice.ts';
import { copyable } from '../components/token.ts';
import type { Action, Page, PageContext } from '../page.ts';
import { texts } from '../texts.ts';
import { type Team, settingForms, teamFacts } from './team-settings.ts';

const words = texts.teams;

export const teamPage: Page = async (context) => {
  const { api, params, outcome, now, session } = context;
  const name = encodeURIComponent(params['team'] ?? '');
  const keysOf = (state: 'active' | 'ended') =>
    api.get<'KeyList'>(`/api/v1/admin/keys?perPage=100&team=${name}&state=${state}`);
  const [{ team, isChangeable }, active, ended] = await Promise.all([
    api.get<'TeamDetails'>(`/api/v1/admin/teams/${name}`),
    ...([keysOf('active'), keysOf('ended')] as const),
  ]);
  const keys = [...active.keys, ...ended.keys];
  const { grants } = session;
  const mayChange = mayDo(grants, 'operators:teams', { team: team.name });
  const main = html`<h1>${team.name}</h1>
    ${outcomeSection(outcome)}
    <section id="facts" data-region="">${teamFacts(team)}</section>
    <section id="keys" data-region="" aria-labelledby="keys-title">
      <h2 id="keys-title">${words.keys}</h2>
      ${keys.length === 0 ? html`<p class="empty">${words.empty}</p>` : keyTable(keys, now)}
      ${ended.nextCursor === undefined ? undefined : html`<p class="calm">${words.endedMore}</p>`}
    </section>
    <section id="changes" aria-labelledby="changes-title">
      <h2 id="changes-title">${words.changes}</h2>
      ${mayChange ? changes(team, isChangeable ? keys : undefined, context) : html`<p class="calm">${words.notYours(formatGrants(grants))}</p>`}
    </section>`;
  return { title: team.name, main };
};

/** @param keys undefined if this gateway does not have the signing key */
function changes(team: Team, keys: readonly Key[] | undefined, context: PageContext): Html {
  if (keys === undefined)
    return html`<p class="calm">${words.notHere}</p>
      ${words.commands(team.name).map((command) => html`<pre class="command"><code>${command}</code></pre>`)}`;
  const active = keys.filter(({ state }) => state === 'active');
  return actionRow(context.session.csrf, [
    issueForm(team.name, context),
    revokeForm(team.name, active, context),
    ...settingForms(
      team,
      active.map(({ keyId }) => keyId),
      context,
    ),
  ]);
}

function issueForm(team: string, { session, newKeyId }: PageContext): ActionForm {
  const { issue } = words;
  const environments = environmentSchema.options.filter((environment) =>
    mayDo(session.grants, 'operators:teams', { team, environment }),
  );
  const given = environments.flatMap((environment) => scopesToGive(session.grants, { team, environment }));
  return {
    name: issue.name,
    path: `${teamPath(team)}/keys`,
    says: issue.says,
    fields: html`${choice('environment', issue.environment, '', { options: environments.map((each) => [each, each]) })}
      <fieldset class="checks">
        <legend>${issue.scopes}</legend>
        ${[...new Set(given)].map(
          (scope) =>
            html`<label class="check"
              ><input type="checkbox" name="scopes" value="${scope}" />${scope}</label
            >`,
        )}
      </fieldset>
      <label>${issue.ends}<input type="date" name="ends" /></label>
      <label>${issue.networks}<input name="networks" maxlength="1000" placeholder="10.20.0.0/16" /></label>
      <input type="hidden" name="keyId" value="${newKeyId()}" />`,
    does: issue.does,
  };
}

function revokeForm(team: string, active: readonly Key[], { now }: PageContext): ActionForm {
  const { revoke } = words;
  const options = active.map(
    (key) => [key.keyId, revoke.which(key.keyId, key.environment, usedText(key, now))] as const,
  );
  return {
    name: revoke.name,
    path: `${teamPath(team)}/keys/revoke`,
    says: revoke.says,
    fields: choice('keyId', revoke.key, '', { options }),
    does: revoke.does,
    isAllowed: active.length > 0,
  };
}

/** The key's text is only on the returned page, never in a URL. */
export const issueKey: Action = async ({ api, params }, form) => {
  const team = params['team'] ?? '';
  const [ends, networks] = [form.get('ends') ?? '', form.get('networks')?.trim() ?? ''];
  const answer = await api.call<{ keyId: string; key: string }>({
    method: 'POST',
    path: '/api/v1/admin/keys',
    body: {
      team,
      environment: form.get('environment'),
      scopes: form.getAll('scopes'),
      keyId: form.get('keyId'),
      ...(ends === '' ? {} : { expiresAt: `${ends}T23:59:59Z` }),
      ...(networks === '' ? {} : { networks: networks.split(',').map((each) => each.trim()) }),
    },
  });
  if (answer.kind === 'answer') return issuedPage(team, answer.body.key);
  const { errors, requestId } = answer;
  const isRepeat = errors.some(({ code }) => code === 'key_exists');
  const text = isRepeat ? words.issue.again : errorText(errors);
  return { location: teamPath(team), outcome: { isDone: false, text, requestId } };
};

function issuedPage(team: string, key: string): Rendered {
  const { issue } = words;
  const main = html`<section class="alone">
    <h1>${issue.done}</h1>
    <p>${copyable(key, key)}</p>
    <p>${issue.once}</p>
    <p><a href="${teamPath(team)}">${issue.back(team)}</a></p>
  </section>`;
  return { title: issue.done, main };
}

export const revokeKey: Action = async ({ api, params }, form) => {
  const [team, keyId] = [params['team'] ?? '', form.get('keyId') ?? ''];
  const path = `/api/v1/admin/keys/${encodeURIComponent(keyId)}/revoke`;
  const answer = await api.call({ method: 'POST', path, body: { team } });
  return answered(answer, teamPath(team), words.revoke.done(keyId));
};
