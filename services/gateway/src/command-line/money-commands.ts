/** `team wallet`, `team approval` and `team limit`: what the payouts of a team are taken from, which a second key approves, and limits. */
import { currencySchema } from '@tollgate/payment-domain/money';
import type { Environment } from '@tollgate/payment-domain';
import { omitUndefined } from '@tollgate/service-kit';
import {
  type LimitedOperation,
  type Team,
  type Teams,
  type Wallet,
  limitedOperations,
  walletNameSchema,
} from '@tollgate/teams';
import { type Argument, type Command, InvalidArgumentError, Option } from 'commander';
import { type CommandResult, type CommandTools, type RunCommand, environmentOption } from './command.ts';

/** What the commands of teams lend to those of money: they answer alike. */
export interface TeamCommandKit {
  teamArgument(syntax: string, description: string): Argument;
  changeTeam(
    tools: CommandTools,
    name: string,
    commandsFor: Parameters<Teams['change']>[1],
  ): Promise<CommandResult>;
}

interface WalletOptions {
  own?: true;
  shared?: string;
  providerBalance?: true;
}

export function registerWalletCommand(team: Command, run: RunCommand, kit: TeamCommandKit): void {
  const command: Command = team
    .command('wallet')
    .description(
      'choose what the payouts of a team are taken from; each choice takes the place of the one before',
    )
    .addArgument(kit.teamArgument('<name>', 'the team'))
    .addOption(
      new Option('--own', 'what the team took itself, less what it refunded and paid out').conflicts([
        'shared',
        'providerBalance',
      ]),
    )
    .addOption(
      new Option('--shared <wallet>', 'the same of all teams that name this wallet, together')
        .argParser(parseWalletName)
        .conflicts('providerBalance'),
    )
    .option('--provider-balance', 'whatever the provider has: the money of other teams, too')
    .action((name: string, options: WalletOptions) => {
      const wallet = toWallet(options);
      if (wallet === undefined)
        command.error("error: missing option '--own', '--shared' or '--provider-balance'");
      return run((tools) => kit.changeTeam(tools, name, () => [{ type: 'ChooseWallet', wallet }]));
    });
}

interface ApprovalOptions {
  environment: Environment;
  currency: string;
  above?: number;
  none?: true;
}

export function registerApprovalCommand(team: Command, run: RunCommand, kit: TeamCommandKit): void {
  const command: Command = team
    .command('approval')
    .description('let payouts above a sum wait until a second key with the scope approvals approves them')
    .addArgument(kit.teamArgument('<name>', 'the team'))
    .addOption(environmentOption('of the payouts'))
    .addOption(currencyOption())
    .addOption(
      new Option('--above <sum>', 'in minor units; 0: every payout waits')
        .argParser(parseSum)
        .conflicts('none'),
    )
    .option('--none', 'no payout waits')
    .action((name: string, { environment, currency, above, none }: ApprovalOptions) => {
      if (above === undefined && none !== true) command.error("error: missing option '--above' or '--none'");
      const rule = { environment, currency, above: above ?? null };
      return run((tools) => kit.changeTeam(tools, name, () => [{ type: 'RequireApproval', ...rule }]));
    });
}

interface LimitOptions {
  environment: Environment;
  operation: LimitedOperation;
  currency: string;
  key?: string;
  perCall?: number;
  perDay?: number;
  none?: true;
}

export function registerLimitCommand(team: Command, run: RunCommand, kit: TeamCommandKit): void {
  const command: Command = team
    .command('limit')
    .description(
      'limit what a team, or one key of it, may ask for in one call and on one day (UTC)\n' +
        'each limit takes the place of the one before; a sum that is left out is not limited',
    )
    .addArgument(kit.teamArgument('<name>', 'the team'))
    .addOption(environmentOption('of the keys'))
    .addOption(
      new Option('--operation <operation>', 'what is limited')
        .choices(limitedOperations)
        .makeOptionMandatory(),
    )
    .addOption(currencyOption())
    .option('--key <keyId>', 'of this key alone; else of all keys of the team together')
    .addOption(limitOption('--per-call <sum>', 'of one call'))
    .addOption(limitOption('--per-day <sum>', 'of one day in UTC'))
    .option('--none', 'limit it no more')
    .action((name: string, options: LimitOptions) => {
      const { environment, operation, currency, key, none } = options;
      const [perCall, perDay] = [options.perCall ?? null, options.perDay ?? null];
      if (perCall === null && perDay === null && none !== true)
        command.error("error: missing option '--per-call', '--per-day' or '--none'");
      const limit = { environment, operation, currency, ...omitUndefined({ keyId: key }), perCall, perDay };
      return run((tools) => kit.changeTeam(tools, name, () => [{ type: 'LimitMoney', ...limit }]));
    });
}

const limitOption = (flags: string, of: string): Option =>
  new Option(flags, `${of}, in minor units`)
    .argParser((text) => {
      const sum = parseSum(text);
      if (sum === 0) throw new InvalidArgumentError('It must be at least 1.');
      return sum;
    })
    .conflicts('none');

/** One line for each limit. */
export const limitLines = ({ limits }: Team['money']): string[] =>
  limits.map(({ environment, operation, currency, keyId, perCall, perDay }) => {
    const sums = [
      ...(perCall === null ? [] : [`${perCall} a call`]),
      ...(perDay === null ? [] : [`${perDay} a day`]),
    ].join(', ');
    const whose = keyId === undefined ? '' : ` of the key ${keyId}`;
    return `  limit      ${environment} ${operation}s in ${currency}${whose}: ${sums}`;
  });

const currencyOption = (): Option =>
  new Option('--currency <code>', 'ISO 4217 alphabetic code in capitals')
    .argParser((text) => {
      const { success } = currencySchema.safeParse(text);
      if (!success) throw new InvalidArgumentError('It must be an ISO 4217 alphabetic code in capitals.');
      return text;
    })
    .makeOptionMandatory();

function parseSum(text: string): number {
  const sum = /^\d+$/.test(text) ? Number(text) : NaN;
  if (!Number.isSafeInteger(sum)) throw new InvalidArgumentError('It must be a whole number of minor units.');
  return sum;
}

/** Which payouts wait, one line for each rule. */
export const approvalLines = ({ approvals }: Team['money']): string[] =>
  approvals.map(
    ({ environment, currency, above }) =>
      `  approval   of a second key for ${environment} payouts above ${above} ${currency}, in minor units`,
  );

function toWallet({ own, shared, providerBalance }: WalletOptions): Wallet | undefined {
  if (shared !== undefined) return { kind: 'shared', name: shared };
  if (providerBalance === true) return { kind: 'provider' };
  return own === true ? { kind: 'own' } : undefined;
}

function parseWalletName(text: string): string {
  const { success, error } = walletNameSchema.safeParse(text);
  if (!success) throw new InvalidArgumentError(`It ${error.issues[0]?.message ?? 'is not a name'}.`);
  return text;
}

/** What payouts are taken from, in a few words. */
export function walletText(wallet: Wallet): string {
  if (wallet.kind === 'own') return 'from what the team took itself';
  return wallet.kind === 'shared'
    ? `from the wallet ${wallet.name}, which is shared`
    : "from the provider's balance";
}
