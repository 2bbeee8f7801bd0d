/** Settings of a team: origins, source of payouts, approval thresholds and limits, using the API's commands. */
import type { AnswerOf } from '@tollgate/gateway-api/http';
import { type Html, html } from '@tollgate/service-kit';
import { environmentSchema, limitedOperations } from '@tollgate/core';
import { mayDo } from '@tollgate/teams';
import type { ActionForm } from '../components/actions.ts';
import { amountExample, amountText, parseAmount } from '../components/amount.ts';
import { choice, optionsOf } from '../components/choice.ts';
import { factList } from '../components/facts.ts';
import { currencyField } from '../components/form.ts';
import { teamPath } from '../components/keys.ts';
import { answered, shownAt } from '../components/notice.ts';
import type { Action, PageContext } from '../page.ts';

const walletNames = {
  own: "the team's own wallet",
  shared: (name: string) => `the shared wallet ${name}`,
  provider: "the provider's balance",
};

const originTexts = {
  callback: {
    name: 'Webhook origins',
    says: 'Sets the allowed origins for webhooks of the team. The list replaces the previous one. Takes effect within a second.',
  },
  redirect: {
    name: 'Redirect origins',
    says: 'Sets the origins to which customers may return after a payment. The list replaces the previous one.',
  },
};

export type Team = AnswerOf<'TeamDetails'>['team'];

export function teamFacts({ callbackOrigins, redirectOrigins, wallet, approvals, limits }: Team): Html {
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

function limitText({
  environment,
  operation,
  currency,
  keyId,
  perCall,
  perDay,
}: Team['limits'][number]): string {
  const sums = [
    ...(perCall === undefined ? [] : [`${amountText(perCall, currency)} a call`]),
    ...(perDay === undefined ? [] : [`${amountText(perDay, currency)} a day`]),
  ];
  return `${keyId ?? 'All keys together'}, ${operation}, ${environment}: ${sums.join(', ')}`;
}

/** Origins apply to both environments. */
const isManaged = ({ session: { grants } }: PageContext, team: string): boolean =>
  environmentSchema.options.every((environment) => mayDo(grants, 'operators:manage', { team, environment }));

const sumField = (name: string, label: string): Html =>
  html`<label>${label}<input name="${name}" inputmode="decimal" autocomplete="off" maxlength="20" /></label>`;

/** Forms for the settings that the person may change. */
export function settingForms(
  { name: team, callbackOrigins, redirectOrigins = [], wallet }: Team,
  keyIds: readonly string[],
  context: PageContext,
): ActionForm[] {
  if (!isManaged(context, team)) return [];
  const path = (setting: string): string => `${teamPath(team)}/${setting}`;
  const environment = choice('environment', 'Environment', '', {
    options: optionsOf(environmentSchema.options),
  });
  const origins = (purpose: 'callback' | 'redirect', known: readonly string[]): ActionForm => ({
    name: originTexts[purpose].name,
    path: path(`origins/${purpose}`),
    says: originTexts[purpose].says,
    fields: html`<label
      >Origins, each on a line: https://host[:port], or http:// and a host of this machine<textarea
        name="origins"
        rows="4"
        maxlength="15000"
        spellcheck="false"
      >
${known.join('\n')}</textarea>
    </label>`,
    does: 'Set the list',
  });
  const sharing: ActionForm = {
    name: 'Source of payouts',
    path: path('wallet'),
    says: 'Sets the wallet that payouts of the team are taken from.',
    fields: html`${choice('kind', 'Wallet', '', { options: Object.entries({ own: "The team's own wallet", shared: 'A shared wallet', provider: "The provider's balance" }) })}
      <label
        >Name of the shared wallet<input
          name="name"
          value="${wallet.name ?? ''}"
          maxlength="63"
          autocomplete="off"
      /></label>`,
    does: 'Set the source',
  };
  const approvals: ActionForm = {
    name: 'Approval threshold',
    path: path('approvals'),
    says: 'Payouts above this amount need approval. It replaces the threshold of this environment and currency.',
    fields: html`${environment} ${currencyField()} ${sumField('above', 'Amount; empty removes the threshold')}`,
    does: 'Set the threshold',
  };
  const limits: ActionForm = {
    name: 'Set a limit',
    path: path('limits'),
    says: 'Limits the amounts of the team or of one key. It replaces the limit of this environment, operation, key and currency.',
    fields: html`${environment}
    ${choice('operation', 'Operation', '', { options: optionsOf(limitedOperations) })}
    ${choice('keyId', 'Key', '', { any: 'All keys together', options: optionsOf(keyIds) })} ${currencyField()}
    ${sumField('perCall', 'Per call; empty for no limit')}
    ${sumField('perDay', 'Per day (UTC); empty for no limit')}`,
    does: 'Set the limit',
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
      const text = `This is not an amount. Write it as in ${amountExample(form.get('currency') ?? '')}. Nothing was changed.`;
      return shownAt(location, false, text);
    }
    const [name] = setting.split('/');
    const answer = await api.post(`/api/v1/admin/teams/${encodeURIComponent(team)}/${name}`, body);
    return answered(answer, location, `The settings of team ${team} are saved.`);
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
