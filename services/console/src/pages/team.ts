/** One team: its keys, what bounds it, and letting somebody in or no more. */
import { type Html, omitUndefined, html } from '@tollgate/service-kit';
import { formatGrants, mayDo, scopesToGive } from '@tollgate/teams';
import { environmentSchema } from '@tollgate/core';
import { amountText } from '../components/amount.ts';
import { factList } from '../components/facts.ts';
import { type Key, type KeyList, keyTable, teamPath } from '../components/keys.ts';
import type { Rendered } from '../components/layout.ts';
import { errorText, outcomeSection, refusedOutcome } from '../components/notice.ts';
import { durationText } from '../components/time.ts';
import { copyable } from '../components/token.ts';
import type { Action, Done, Page, PageContext } from '../page.ts';
import { texts } from '../texts.ts';

const words = texts.teams;

/** As the API shows it. */
interface Team {
  name: string;
  callbackOrigins: readonly string[];
  redirectOrigins?: readonly string[];
  wallet: { kind: 'own' | 'shared' | 'provider'; name?: string };
  approvals: readonly { environment: string; currency: string; above: number }[];
  limits: readonly {
    environment: string;
    operation: string;
    currency: string;
    keyId?: string;
    perCall?: number;
    perDay?: number;
  }[];
}

export const teamPage: Page = async (context) => {
  const { api, params, outcome, now, session } = context;
  const name = encodeURIComponent(params['team'] ?? '');
  const keysOf = (state: 'active' | 'ended') =>
    api.get<KeyList>(`/api/v1/admin/keys?perPage=100&team=${name}&state=${state}`);
  const [{ team, isChangeable }, active, ended] = await Promise.all([
    api.get<{ team: Team; isChangeable: boolean }>(`/api/v1/admin/teams/${name}`),
    ...([keysOf('active'), keysOf('ended')] as const),
  ]);
  const keys = [...active.keys, ...ended.keys];
  const { grants } = session;
  const mayChange = mayDo(grants, 'operators:teams', { team: team.name });
  const main = html`<h1>${team.name}</h1>
    ${outcomeSection(outcome)}
    <section id="facts" data-region="">${factsOf(team)}</section>
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

function factsOf({ callbackOrigins, redirectOrigins, wallet, approvals, limits }: Team): Html {
  const { facts } = words;
  const { wallets } = facts;
  const walletText = wallet.kind === 'shared' ? wallets.shared(wallet.name ?? '') : wallets[wallet.kind];
  return factList([
    [facts.callbacks, callbackOrigins.join(' ') || facts.nowhere],
    [
      facts.redirects,
      redirectOrigins === undefined ? facts.anyHttps : redirectOrigins.join(' ') || facts.nowhere,
    ],
    [facts.wallet, walletText],
    [
      facts.approvals,
      lines(
        approvals.map(({ above, currency, environment }) =>
          facts.above(amountText(above, currency), environment),
        ),
      ),
    ],
    [facts.limits, lines(limits.map(limitText))],
  ]);
}

const lines = (all: readonly string[]): Html | undefined =>
  all.length === 0 ? undefined : html`${all.map((line) => html`<div>${line}</div>`)}`;

function limitText({
  environment,
  operation,
  currency,
  keyId,
  perCall,
  perDay,
}: Team['limits'][number]): string {
  const { facts } = words;
  const sums = omitUndefined({
    call: perCall === undefined ? undefined : facts.perCall(amountText(perCall, currency)),
    day: perDay === undefined ? undefined : facts.perDay(amountText(perDay, currency)),
  });
  return `${facts.limit(keyId ?? facts.everyKey, operation, environment)} ${Object.values(sums).join(', ')}`;
}

/** @param keys undefined where changes are not made here */
function changes(
  { name: team, callbackOrigins }: Team,
  keys: readonly Key[] | undefined,
  context: PageContext,
): Html {
  if (keys !== undefined)
    return html`<div class="actions">
      ${issueForm(team, context)} ${revokeForm(team, keys, context)}
      ${isManaged(context, team) ? originsForm(team, callbackOrigins, context) : undefined}
    </div>`;
  return html`<p class="calm">${words.notHere}</p>
    ${words.commands(team).map((command) => html`<pre class="command"><code>${command}</code></pre>`)}`;
}

/** Origins count in both environments. */
const isManaged = ({ session: { grants } }: PageContext, team: string): boolean =>
  environmentSchema.options.every((environment) => mayDo(grants, 'operators:manage', { team, environment }));

function issueForm(team: string, { session, newKeyId }: PageContext): Html {
  const { issue } = words;
  const environments = environmentSchema.options.filter((environment) =>
    mayDo(session.grants, 'operators:teams', { team, environment }),
  );
  const given = environments.flatMap((environment) => scopesToGive(session.grants, { team, environment }));
  return html`<details class="action" name="action">
    <summary>${issue.name}</summary>
    <form method="post" action="${teamPath(team)}/keys">
      <p>${issue.says}</p>
      <label
        >${issue.environment}<select name="environment">
          ${environments.map((environment) => html`<option>${environment}</option>`)}
        </select></label
      >
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
      <input type="hidden" name="csrf" value="${session.csrf}" />
      <input type="hidden" name="keyId" value="${newKeyId()}" />
      <button class="strong grave">${issue.does}</button>
    </form>
  </details>`;
}

function revokeForm(team: string, keys: readonly Key[], { session, now }: PageContext): Html | undefined {
  const active = keys.filter(({ state }) => state === 'active');
  if (active.length === 0) return undefined;
  const { revoke } = words;
  const options = active.map(({ keyId, environment, lastUsedAt }) => {
    const used =
      lastUsedAt === undefined ? words.never : words.ago(durationText(now - Date.parse(lastUsedAt)));
    return html`<option value="${keyId}">${revoke.which(keyId, environment, used)}</option>`;
  });
  return html`<details class="action" name="action">
    <summary>${revoke.name}</summary>
    <form method="post" action="${teamPath(team)}/keys/revoke">
      <p>${revoke.says}</p>
      <label
        >${revoke.key}<select name="keyId">
          ${options}
        </select></label
      >
      <input type="hidden" name="csrf" value="${session.csrf}" />
      <button class="strong grave">${revoke.does}</button>
    </form>
  </details>`;
}

function originsForm(team: string, origins: readonly string[], { session }: PageContext): Html {
  const { allow } = words;
  return html`<details class="action" name="action">
    <summary>${allow.name}</summary>
    <form method="post" action="${teamPath(team)}/origins">
      <p>${allow.says}</p>
      <label
        >${allow.label}<textarea name="origins" rows="4" maxlength="15000" spellcheck="false">
${origins.join('\n')}</textarea>
      </label>
      <input type="hidden" name="csrf" value="${session.csrf}" />
      <button class="strong grave">${allow.does}</button>
    </form>
  </details>`;
}

/** The key's text goes to the page that answers, and into no address. */
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

export const revokeKey: Action = ({ api, params }, form) => {
  const [team, keyId] = [params['team'] ?? '', form.get('keyId') ?? ''];
  const path = `/api/v1/admin/keys/${encodeURIComponent(keyId)}/revoke`;
  return change(api, team, { path, body: { team }, done: words.revoke.done(keyId) });
};

export const allowOrigins: Action = ({ api, params }, form) => {
  const team = params['team'] ?? '';
  const origins = (form.get('origins') ?? '').split(/\s+/).filter((origin) => origin !== '');
  const path = `/api/v1/admin/teams/${encodeURIComponent(team)}/origins`;
  return change(api, team, { path, body: { purpose: 'callback', origins }, done: words.allow.done });
};

async function change(
  api: PageContext['api'],
  team: string,
  { path, body, done }: { path: string; body: object; done: string },
): Promise<Done> {
  const location = teamPath(team);
  const answer = await api.call({ method: 'POST', path, body });
  if (answer.kind === 'answer') return { location, outcome: { isDone: true, text: done } };
  return { location, outcome: refusedOutcome(answer) };
}
