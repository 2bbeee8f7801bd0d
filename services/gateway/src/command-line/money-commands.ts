/** `team wallet`: what the payouts of a team are taken from. */
import { type Teams, type Wallet, walletNameSchema } from '@tollgate/teams';
import { type Argument, type Command, InvalidArgumentError, Option } from 'commander';
import type { CommandResult, CommandTools, RunCommand } from './command.ts';

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
