/** Settings of a team: origins, source of payouts, approval thresholds and limits, using the API's commands. */
import type { AnswerOf } from '@tollgate/gateway-api/http';
import { type Html, html } from '@tollgate/service-kit';
import { environmentSchema, limitedOperations } from '@tollgate/core';
import { mayDo } from '@tollgate/teams';
import type { ActionForm } from '../components/actions.ts';
import { amountExample, amountText, parseAmount } from '../components/amount.ts';
import { choice } from '../components/choice.ts';
import { factList } from '../components/facts.ts';
import { teamPath } from '../components/keys.ts';
import { answered } from '../components/notice.ts';
import type { Action, PageContext } from '../page.ts';
import { texts } from '../texts.ts';

const words = texts.teams;

export type Team = AnswerOf<'TeamDetails'>['team'];

export function teamFacts({ callbackOrigins, redirectOrigins, wallet, approvals, limits }: Team): Html {
  const { facts } = words;
  const { wallets } = facts;
  const walletText = wallet.kind === 'shared' ? wallets.shared(wallet.name ?? '') : wallets[wallet.kind];
  const redirects = redirectOrigins?.join(' ') ?? facts.anyHttps;
  return factList([
    [facts.callbacks, callbackOrigins.join(' ') || facts.nowhere],
    [facts.redirects, redirects || facts.nowhere],
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
  const sums = [
    ...(perCall === undefined ? [] : [facts.perCall(amountText(perCall, currency))]),
    ...(perDay === undefined ? [] : [facts.perDay(amountText(perDay, currency))]),
  ];
  return `${facts.limit(keyId ?? facts.everyKey, operation, environment)} ${sums.join(', ')}`;
}

/** Origins apply to both environments. */
const isManaged = ({ session: { grants } }: PageContext, team: string): boolean =>
  environmentSchema.options.every((environment) => mayDo(grants, 'operators:manage', { team, environment }));

const same = (values: readonly string[]) => values.map((value) => [value, value] as const);

const sumField = (name: string, label: string): Html =>
  html`<label>${label}<input name="${name}" inputmode="decimal" autocomplete="off" maxlength="20" /></label>`;

const currencyField = html`<label
  >${words.currency}<input
    name="currency"
    value="EUR"
    required
    pattern="[A-Z]{3}"
    maxlength="3"
    size="4"
    autocomplete="off"
/></label>`;

/** Forms for the settings that the person may change. */
export function settingForms(
  { name: team, callbackOrigins, redirectOrigins = [], wallet }: Team,
  keyIds: readonly string[],
  context: PageContext,
): ActionForm[] {
  if (!isManaged(context, team)) return [];
  const path = (setting: string): string => `${teamPath(team)}/${setting}`;
  const environment = choice('environment', words.issue.environment, '', {
    options: same(environmentSchema.options),
  });
  const origins = (purpose: 'callback' | 'redirect', known: readonly string[]): ActionForm => ({
    name: words.allow[purpose].name,
    path: path(`origins/${purpose}`),
    says: words.allow[purpose].says,
    fields: html`<label
      >${words.allow.label}<textarea name="origins" rows="4" maxlength="15000" spellcheck="false">
${known.join('\n')}</textarea>
    </label>`,
    does: words.allow.does,
  });
  const sharing: ActionForm = {
    name: words.wallet.name,
    path: path('wallet'),
    says: words.wallet.says,
    fields: html`${choice('kind', words.wallet.kind, '', { options: Object.entries(words.wallet.kinds) })}
      <label
        >${words.wallet.shared}<input
          name="name"
          value="${wallet.name ?? ''}"
          maxlength="63"
          autocomplete="off"
      /></label>`,
    does: words.wallet.does,
  };
  const approvals: ActionForm = {
    name: words.approvals.name,
    path: path('approvals'),
    says: words.approvals.says,
    fields: html`${environment} ${currencyField} ${sumField('above', words.approvals.above)}`,
    does: words.approvals.does,
  };
  const limits: ActionForm = {
    name: words.limits.name,
    path: path('limits'),
    says: words.limits.says,
    fields: html`${environment}
    ${choice('operation', words.limits.operation, '', { options: same(limitedOperations) })}
    ${choice('keyId', words.limits.key, '', { any: words.facts.everyKey, options: same(keyIds) })}
    ${currencyField} ${sumField('perCall', words.limits.perCall)} ${sumField('perDay', words.limits.perDay)}`,
    does: words.limits.does,
  };
  const mayShare = mayDo(context.session.grants, 'operators:manage', 'everywhere');
  return [
    limits,
    approvals,
    ...(mayShare ? [sharing] : []),
    origins('callback', callbackOrigins),
    origins('redirect', redirectOrigins),
  ];
}

export const settings = ['origins/callback', 'origins/redirect', 'wallet', 'approvals', 'limits'] as const;
type Setting = (typeof settings)[number];

/** Replaces a setting. Sending the form again changes nothing. */
export const setTeam =
  (setting: Setting): Action =>
  async ({ api, params }, form) => {
    const team = params['team'] ?? '';
    const location = teamPath(team);
    const body = bodyOf(setting, form);
    if (body === undefined) {
      const text = words.wrongAmount(amountExample(form.get('currency') ?? ''));
      return { location, outcome: { isDone: false, text } };
    }
    const [name] = setting.split('/');
    const answer = await api.call({
      method: 'POST',
      path: `/api/v1/admin/teams/${encodeURIComponent(team)}/${name}`,
      body,
    });
    return answered(answer, location, words.set(team));
  };

/** Undefined if an amount is invalid. */
function bodyOf(setting: Setting, form: URLSearchParams): object | undefined {
  const value = (name: string): string => (form.get(name) ?? '').trim();
  const currency = value('currency');
  const sum = (name: string): number | null | undefined =>
    value(name) === '' ? null : parseAmount(value(name), currency);
  switch (setting) {
    case 'origins/callback':
    case 'origins/redirect': {
      const origins = value('origins')
        .split(/\s+/)
        .filter((origin) => origin !== '');
      return { purpose: setting.split('/')[1], origins };
    }
    case 'wallet': {
      const kind = value('kind');
      return { wallet: kind === 'shared' ? { kind, name: value('name') } : { kind } };
    }
    case 'approvals': {
      const above = sum('above');
      return above === undefined ? undefined : { environment: value('environment'), currency, above };
    }
    case 'limits': {
      const [perCall, perDay] = [sum('perCall'), sum('perDay')];
      if (perCall === undefined || perDay === undefined) return undefined;
      const limit = {
        environment: value('environment'),
        operation: value('operation'),
        currency,
        perCall,
        perDay,
      };
      return value('keyId') === '' ? limit : { ...limit, keyId: value('keyId') };
    }
  }
}
