/** One team: its keys, the forms to change them, and its settings. */
import type { AnswerOf } from '@tollgate/gateway-api/http';
import { type Html, html } from '@tollgate/service-kit';
import { formatGrants, mayDo, scopesToGive } from '@tollgate/teams';
import { environmentSchema } from '@tollgate/core';
import { type ActionForm, actionRow } from '../components/actions.ts';
import { amountText } from '../components/amount.ts';
import { choice, optionsOf } from '../components/choice.ts';
import { factList } from '../components/facts.ts';
import { hiddenFields } from '../components/form.ts';
import { type Key, keyList, teamPath, usedText } from '../components/keys.ts';
import type { Rendered } from '../components/layout.ts';
import { errorText, outcomeSection, answered } from '../components/notice.ts';
import { listTable } from '../components/table.ts';
import { copyable } from '../components/token.ts';
import type { Action, Page, PageContext } from '../page.ts';
import { texts } from '../texts.ts';

const walletNames = {
  own: "the team's own wallet",
  shared: (name: string) => `the shared wallet ${name}`,
  provider: "the provider's balance",
};

type Team = AnswerOf<'TeamDetails'>['team'];

function teamFacts({ callbackOrigins, redirectOrigins, wallet, approvals, limits }: Team): Html {
  const walletText =
    wallet.kind === 'shared' ? walletNames.shared(wallet.name ?? '') : walletNames[wallet.kind];
  const redirects = redirectOrigins?.join(' ') ?? 'any https URL';
  return factList([
    ['Webhook origins', callbackOrigins.join(' ') || 'none'],
    ['Redirect origins', redirects || 'none'],
    ['Source of payouts', walletText],
    [
      'Approval required',
      lines(
        approvals.map(
          ({ above, currency, environment }) =>
            `payouts above ${amountText(above, currency)} (${environment})`,
        ),
      ),
    ],
    ['Limits', lines(limits.map(limitText))],
  ]);
}

const lines = (all: readonly string[]): Html | undefined =>
  all.length === 0 ? undefined : html`${all.map((line) => html`<div>${line}</div>`)}`;

function limitText(limit: Team['limits'][number]): string {
  const { environment, operation, currency, keyId, perCall, perDay } = limit;
  const sums = [
    ...(perCall === undefined ? [] : [`${amountText(perCall, currency)} a call`]),
    ...(perDay === undefined ? [] : [`${amountText(perDay, currency)} a day`]),
  ];
  return `${keyId ?? 'All keys together'}, ${operation}, ${environment}: ${sums.join(', ')}`;
}

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
      <h2 id="keys-title">Keys</h2>
      ${keys.length === 0 ? html`<p class="empty">No keys.</p>` : listTable(keyList(now), keys)}
      ${ended.nextCursor === undefined ? undefined : html`<p class="calm">Only the oldest 100 ended keys are shown. “Ended keys” under Teams lists them all.</p>`}
    </section>
    <section id="changes" aria-labelledby="changes-title">
      <h2 id="changes-title">Changes</h2>
      ${mayChange ? html`<p class="calm">Origins, the source of payouts, approvals and limits: <code>npm run tollgate -- team --help</code></p>` : undefined}
      ${mayChange ? changes(team, isChangeable ? keys : undefined, context) : html`<p class="calm">Your role, ${formatGrants(grants)}, cannot change teams and keys. Ask an admin.</p>`}
    </section>`;
  return { title: team.name, main };
};

/** @param keys undefined if this gateway does not have the signing key */
function changes(team: Team, keys: readonly Key[] | undefined, context: PageContext): Html {
  if (keys === undefined)
    return html`<p class="calm">${texts.errors.noSigningKey}</p>
      ${[
        `npm run tollgate -- --as <you> key issue ${team.name} --environment production --scopes payments,read`,
        `npm run tollgate -- --as <you> key revoke ${team.name} <key>`,
      ].map((command) => html`<pre class="command"><code>${command}</code></pre>`)}`;
  const active = keys.filter(({ state }) => state === 'active');
  return actionRow(context.session.csrf, [
    issueForm(team.name, context),
    revokeForm(team.name, active, context),
  ]);
}

function issueForm(team: string, { session, newKeyId }: PageContext): ActionForm {
  const environments = environmentSchema.options.filter((environment) =>
    mayDo(session.grants, 'operators:teams', { team, environment }),
  );
  const given = environments.flatMap((environment) => scopesToGive(session.grants, { team, environment }));
  return {
    name: 'Issue a key',
    path: `${teamPath(team)}/keys`,
    says: 'Issues a key and shows it once. Two keys can be active per environment, so that one can replace the other.',
    fields: html`${choice('environment', 'Environment', '', { options: optionsOf(environments) })}
      <fieldset class="checks">
        <legend>Scopes</legend>
        ${[...new Set(given)].map(
          (scope) =>
            html`<label class="check"
              ><input type="checkbox" name="scopes" value="${scope}" />${scope}</label
            >`,
        )}
      </fieldset>
      <label>Expires after this day (UTC); empty for never<input type="date" name="ends" /></label>
      <label
        >Allowed networks, separated by commas; empty for any<input
          name="networks"
          maxlength="1000"
          placeholder="10.20.0.0/16"
      /></label>
      ${hiddenFields({ keyId: newKeyId() })}`,
    does: 'Issue the key',
  };
}

function revokeForm(team: string, active: readonly Key[], { now }: PageContext): ActionForm {
  const options = active.map(
    (key) => [key.keyId, `${key.keyId}, ${key.environment}, last used: ${usedText(key, now)}`] as const,
  );
  return {
    name: 'Revoke a key',
    path: `${teamPath(team)}/keys/revoke`,
    says: 'Revokes the key permanently. Takes effect within a second.',
    fields: choice('keyId', 'Key', '', { options }),
    does: 'Revoke the key',
    isAllowed: active.length > 0,
  };
}

/** The key's text is only on the returned page, never in a URL. */
export const issueKey: Action = async ({ api, params }, form) => {
  const team = params['team'] ?? '';
  const [ends, networks] = [form.get('ends') ?? '', form.get('networks')?.trim() ?? ''];
  const answer = await api.post<{ keyId: string; key: string }>('/api/v1/admin/keys', {
    team,
    environment: form.get('environment'),
    scopes: form.getAll('scopes'),
    keyId: form.get('keyId'),
    ...(ends === '' ? {} : { expiresAt: `${ends}T23:59:59Z` }),
    ...(networks === '' ? {} : { networks: networks.split(',').map((each) => each.trim()) }),
  });
  if (answer.kind === 'answer') return issuedPage(team, answer.body.key);
  const { errors, requestId } = answer;
  const isRepeat = errors.some(({ code }) => code === 'key_exists');
  const text = isRepeat
    ? 'This form was already sent. Its key is not shown again. Revoke that key and issue another one.'
    : errorText(errors);
  return { location: teamPath(team), outcome: { isDone: false, text, requestId } };
};

function issuedPage(team: string, key: string): Rendered {
  const main = html`<section class="alone">
    <h1>The key is issued</h1>
    <p>${copyable(key, key)}</p>
    <p>Copy it now. It is not shown again: only its hash is stored.</p>
    <p><a href="${teamPath(team)}">To the team ${team}</a></p>
  </section>`;
  return { title: 'The key is issued', main };
}

export const revokeKey: Action = async ({ api, params }, form) => {
  const [team, keyId] = [params['team'] ?? '', form.get('keyId') ?? ''];
  const answer = await api.post(`/api/v1/admin/keys/${encodeURIComponent(keyId)}/revoke`, { team });
  return answered(answer, teamPath(team), `The key ${keyId} is revoked.`);
};
