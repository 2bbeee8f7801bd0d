/** `adopt`: the payments that an account made before the gateway, taken under a team. */
import {
  type Account,
  type AdoptedRow,
  type AdoptionOrder,
  type AdoptionTally,
  type InquiryLimits,
  adoptPayments,
  createAskAccount,
  inquiryLimits,
  nameOfInstallation,
  requireDataSecrets,
} from '@tollgate/command-service';
import { containsCardNumber } from '@tollgate/payment-domain/money';
import type { Environment } from '@tollgate/payment-domain';
import type { ComparablePayment } from '@tollgate/provider';
import { createLocalKeyService, createVault, omitUndefined } from '@tollgate/service-kit';
import { isAllowedOrigin } from '@tollgate/teams';
import { type Command, InvalidArgumentError } from 'commander';
import { parseDay } from './parse-time.ts';
import { openNotes, progressOf, toResult } from './adopt-report.ts';
import {
  type CommandResult,
  type CommandTools,
  type RunCommand,
  environmentOption,
  stopSignalOf,
} from './command.ts';
import { serviceTokenLookup } from './service-token-lookup.ts';
import { parseTeamName, refused, teamsOf } from './team-commands.ts';

type Print = (text: string) => void;

interface AdoptOptions {
  account: string;
  environment: Environment;
  team: string;
  from: string;
  to?: string;
  match?: Matcher[];
  callbackUrl?: string;
  tokens?: string;
  inquiriesPerSecond?: number;
  dryRun?: boolean;
  json?: boolean;
}

type Matcher = (found: ComparablePayment) => boolean;

export function registerAdoptCommand(program: Command, run: RunCommand, output: Print): void {
  program
    .command('adopt')
    .description(
      'take the payments that an account made before the gateway, and their recurring tokens, under a team; calls nothing that moves money, and may be stopped and started again',
    )
    .requiredOption('--account <name>', 'the account at the Payment Service that made them')
    .addOption(environmentOption('of the account'))
    .requiredOption('--team <name>', 'whose they become', parseTeamName)
    .requiredOption('--from <day>', 'made on this day or later, YYYY-MM-DD in UTC', parseDay)
    .option('--to <day>', 'made on this day or earlier; today unless given', parseDay)
    .option(
      '--match <field=regex>',
      `only those whose ${matchFields.join(', ')} matches a regular expression; all that are given must`,
      (text: string, before?: Matcher[]) => [...(before ?? []), parseMatch(text)],
    )
    .option('--callback-url <url>', 'where webhooks about them go from now on; none are sent unless given')
    .option('--tokens <file>', "write one line of JSON for each: the Payment Service's token and ours")
    .option(
      '--inquiries-per-second <count>',
      'beside those of the gateway; a quarter of what the account may be asked unless given',
      parseCount,
    )
    .option('--dry-run', 'only say what would be adopted')
    .action((_: unknown, command: Command) => {
      const options = command.optsWithGlobals<AdoptOptions>();
      return run((tools) => adopt(tools, options, options.json === true ? () => undefined : output, output));
    });
}

function parseCount(text: string): number {
  if (/^[1-9]\d{0,5}$/.test(text)) return Number(text);
  throw new InvalidArgumentError('It is not a whole number from 1 to 999999.');
}

const fieldOf: Record<string, (found: ComparablePayment) => string | undefined> = {
  orderNumber: ({ observed }) => observed.orderNumber,
  product: ({ product }) => product,
  callbackUrl: ({ callbackUrl }) => callbackUrl,
};
const matchFields = Object.keys(fieldOf);

/** A payment that does not show the field does not match. */
function parseMatch(text: string): Matcher {
  const [, name = '', pattern = ''] = /^([A-Za-z]+)=(.+)$/s.exec(text) ?? [];
  const read = Object.hasOwn(fieldOf, name) ? fieldOf[name] : undefined;
  if (read === undefined)
    throw new InvalidArgumentError(
      `It is not one of ${matchFields.join(', ')}, an equals sign and a regular expression.`,
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
    throw new InvalidArgumentError(`${reason}.`);
  }
}

async function adopt(
  tools: CommandTools,
  options: AdoptOptions,
  print: Print,
  printJson: Print,
): Promise<CommandResult> {
  const { environment, account, team, from, match = [], callbackUrl, dryRun = false } = options;
  const { to = new Date(tools.clock.now()).toISOString().slice(0, 10) } = options;
  if (from > to) return { kind: 'usage', message: `--from is ${from}, and that is after --to, ${to}.` };
  const refusal = await refusalOf(tools, team, callbackUrl);
  if (refusal !== undefined) return refusal;
  const order: AdoptionOrder = {
    ...{ environment, account, team, from, to, isDryRun: dryRun, ...omitUndefined({ callbackUrl }) },
    matches: (found) => match.every((matches) => matches(found)),
  };
  using notes = openNotes(options.tokens, print);
  const tally = await adoptWithin(tools, options, order, { onRow: notes.add, print });
  notes.end();
  return toResult(order, tally, options.json === true ? { printJson } : { print });
}

async function refusalOf(
  tools: CommandTools,
  name: string,
  callbackUrl: string | undefined,
): Promise<CommandResult | undefined> {
  const team = await teamsOf(tools).find(name);
  if (team === undefined) return refused(name, { code: 'team_not_found' });
  if (callbackUrl !== undefined && containsCardNumber(callbackUrl))
    return { kind: 'usage', message: '--callback-url holds what looks like a card number.' };
  if (callbackUrl === undefined || isAllowedOrigin(callbackUrl, team.allowedOrigins.callback ?? []))
    return undefined;
  const message = `--callback-url does not point to an origin that ${name} has allowed; team allow-origins ${name} --callback allows one.`;
  return { kind: 'refused', message };
}

/** Has a budget of its own beside the gateway's. */
async function adoptWithin(
  tools: CommandTools,
  { inquiriesPerSecond }: AdoptOptions,
  order: AdoptionOrder,
  { onRow, print }: { onRow: (row: AdoptedRow) => void; print: Print },
): Promise<AdoptionTally> {
  const { store, clock, ids, log, openAccount } = tools;
  if (openAccount === undefined) throw new RangeError('these tools open no account');
  await using account = closing(openAccount(order.environment, order.account));
  await using lookup = serviceTokenLookup(tools, order);
  const signal = stopSignalOf(tools);
  const limits = limitsOf(account.opened, inquiriesPerSecond);
  const { provider } = account.opened;
  const askAccount = createAskAccount({
    accounts: { inquiriesOf: () => ({ provider, limits }) },
    ...{ stopping: signal, clock, log },
  });
  const dataSecrets = tools.dataSecrets?.();
  if (dataSecrets === undefined) throw new RangeError('these tools have no data secrets');
  await requireDataSecrets({ store, clock, ids }, dataSecrets);
  const vault = createVault(createLocalKeyService(dataSecrets, ids), ids);
  const installation = await nameOfInstallation({ store, clock, ids });
  const { findByServiceToken } = lookup;
  return await adoptPayments(
    { installation, store, vault, askAccount, findByServiceToken, clock, ids, actor: tools.person },
    order,
    {
      signal,
      onRow,
      onDay: (day, soFar) => print(`${day}  ${progressOf(soFar)}\n`),
      onWait: (pauseMs) => print(`The account does not answer; the next try is in ${pauseMs / 1_000} s.\n`),
    },
  );
}

const closing = (opened: Account) => ({
  opened,
  [Symbol.asyncDispose]: () => opened.provider.close(),
});

/** Whatever the other processes do: what they have for themselves is not known here. */
function limitsOf(account: Account, perSecond: number | undefined): InquiryLimits {
  const { concurrentInquiriesMax, inquiriesPerSecondMax } = { ...inquiryLimits, ...account };
  const quarter = (limit: number) => Math.max(1, Math.floor(limit / 4));
  return {
    concurrentMax: () => quarter(concurrentInquiriesMax),
    perSecondMax: () => perSecond ?? quarter(inquiriesPerSecondMax),
    total: () => undefined,
  };
}
