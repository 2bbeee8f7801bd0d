/** `adopt`: assigns payments that an account made before Tollgate to a team. */
import { type Account, createAskAccount, type ComparablePayment, walletNameOf } from '@tollgate/core';
import { type AdoptedRow, type AdoptionOrder, type AdoptionTally, adoptPayments } from '@tollgate/adoption';
import { createVault, omitUndefined, containsCardNumber, isAllowedOrigin } from '@tollgate/service-kit';
import {
  type CommandResult,
  InvalidParameter,
  type ValuesOf,
  flag,
  list,
  option,
  requiredOption,
  text,
  wholeNumber,
} from '@tollgate/service-kit/command-line';
import type { Team } from '@tollgate/teams';
import { openNotes, progressOf, toResult } from './adopt-report.ts';
import * as read from './parameters.ts';
import { refused, teamsOf } from './teams.ts';
import { type CommandTools, openTemporaryIndex, stopSignalOf } from './tools.ts';
import { nameOfInstallation, requireDataSecrets } from '@tollgate/event-store';
import { type InquiryLimits, inquiryLimits } from '@tollgate/accounts';

type Matcher = (found: ComparablePayment) => boolean;

const fieldOf: Record<string, (found: ComparablePayment) => string | undefined> = {
  orderNumber: ({ observed }) => observed.orderNumber,
  product: ({ product }) => product,
  callbackUrl: ({ callbackUrl }) => callbackUrl,
};
const matchFields = Object.keys(fieldOf);

/** A payment without the field does not match. */
function matcher(text: string): Matcher {
  const [, name = '', pattern = ''] = /^([A-Za-z]+)=(.+)$/s.exec(text) ?? [];
  const read = Object.hasOwn(fieldOf, name) ? fieldOf[name] : undefined;
  if (read === undefined)
    throw new InvalidParameter(
      `must be one of ${matchFields.join(', ')}, an equals sign and a regular expression`,
    );
  const expression = parseExpression(pattern);
  return (found) => {
    const value = read(found);
    return value !== undefined && expression.test(value);
  };
}

function parseExpression(pattern: string): RegExp {
  try {
    return new RegExp(pattern, 'u');
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new InvalidParameter(`must hold a regular expression (${reason})`);
  }
}

export const adoptParameters = {
  account: read.account,
  environment: read.environmentOf('of the account'),
  team: requiredOption('name', 'whose they become', read.teamName),
  from: requiredOption('day', 'first day of creation, YYYY-MM-DD in UTC', read.day),
  to: option('day', 'last day of creation; today by default', read.day),
  match: list('field=regex', `only if ${matchFields.join(', ')} matches; all of them`, matcher),
  payableFrom: option('day', 'payments from this day on may be paid out; none by default', read.day),
  callbackUrl: option('url', 'URL of webhooks about them; none by default', text),
  tokens: option('file', "write one line of JSON for each: the Payment Service's token and ours", text),
  inquiriesPerSecond: option(
    'count',
    "inquiries per second, in addition to those of the gateway; a quarter of the account's limit by default",
    wholeNumber(1, 999_999),
  ),
  dryRun: flag('only print what would be adopted'),
};
type AdoptOptions = ValuesOf<typeof adoptParameters>;

export async function adopt(tools: CommandTools, options: AdoptOptions): Promise<CommandResult> {
  const { environment, account, team, from, match = [], callbackUrl, payableFrom, dryRun } = options;
  const { to = new Date(tools.clock.now()).toISOString().slice(0, 10) } = options;
  if (from > to) return { kind: 'usage', message: `--from is ${from}, and that is after --to, ${to}.` };
  const found = await teamsOf(tools).find(team);
  if (found === undefined) return refused(team, { code: 'team_not_found' });
  const refusal = refusalOf(found, callbackUrl);
  if (refusal !== undefined) return refusal;
  const order: AdoptionOrder = {
    environment,
    account,
    team,
    wallet: walletNameOf({ team, wallet: found.money.wallet }),
    from,
    to,
    isDryRun: dryRun,
    ...omitUndefined({ callbackUrl, payableFrom }),
    matches: (found) => match.every((matches) => matches(found)),
  };
  using notes = openNotes(options.tokens, tools.progress);
  const tally = await adoptWithin(tools, options, order, notes.add);
  notes.end();
  return toResult(order, tally, tools);
}

function refusalOf(
  { name, allowedOrigins }: Team,
  callbackUrl: string | undefined,
): CommandResult | undefined {
  if (callbackUrl !== undefined && containsCardNumber(callbackUrl))
    return { kind: 'usage', message: '--callback-url looks like it contains a card number.' };
  if (callbackUrl === undefined || isAllowedOrigin(callbackUrl, allowedOrigins.callback ?? []))
    return undefined;
  const message = `--callback-url is not at an allowed origin of ${name}. Allow it: team allow-origins ${name} --callback.`;
  return { kind: 'refused', message };
}

/** Runs with its own inquiry budget, in addition to the gateway's. */
async function adoptWithin(
  tools: CommandTools,
  { inquiriesPerSecond }: AdoptOptions,
  order: AdoptionOrder,
  onRow: (row: AdoptedRow) => void,
): Promise<AdoptionTally> {
  const { store, clock, ids, log, openAccount, progress } = tools;
  await using account = closing(openAccount(order.environment, order.account));
  await using stops = new AsyncDisposableStack();
  // Only built if the provider shows no order numbers.
  let index: ReturnType<typeof openTemporaryIndex> | undefined;
  const findByServiceToken = async (serviceToken: string) =>
    (await (index ??= openTemporaryIndex(tools, stops))).findByServiceToken(
      order.environment,
      order.account,
      serviceToken,
    );
  const signal = stopSignalOf(tools);
  const limits = limitsOf(account.opened, inquiriesPerSecond);
  const { provider } = account.opened;
  const askAccount = createAskAccount({
    accounts: { inquiriesOf: () => ({ provider, limits }) },
    stopping: signal,
    clock,
    log,
  });
  const dataSecrets = tools.dataSecrets();
  await requireDataSecrets({ store, clock, ids }, dataSecrets);
  const vault = createVault(dataSecrets, ids);
  const installation = await nameOfInstallation({ store, clock, ids });
  return await adoptPayments(
    { installation, store, vault, askAccount, findByServiceToken, clock, ids, actor: tools.person },
    order,
    {
      signal,
      onRow,
      onDay: (day, soFar) => progress(`${day}  ${progressOf(soFar)}\n`),
      onWait: (pauseMs) =>
        progress(`The account does not answer; the next attempt is in ${pauseMs / 1_000} s.\n`),
    },
  );
}

const closing = (opened: Account) => ({ opened, [Symbol.asyncDispose]: () => opened.provider.close() });

/** Ignores the budgets of other processes, which are not known here. */
function limitsOf(account: Account, perSecond: number | undefined): InquiryLimits {
  const { concurrentInquiriesMax, inquiriesPerSecondMax } = { ...inquiryLimits, ...account };
  const quarter = (limit: number) => Math.max(1, Math.floor(limit / 4));
  return {
    concurrentMax: () => quarter(concurrentInquiriesMax),
    perSecondMax: () => perSecond ?? quarter(inquiriesPerSecondMax),
  };
}
