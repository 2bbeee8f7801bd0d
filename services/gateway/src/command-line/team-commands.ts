/** `team add`, `team list`, `team show`, `team allow-origins`. */
import {
  type OriginPurpose,
  type Team,
  type TeamCommand,
  type TeamRefusal,
  activeKeysMax,
  isExpired,
  originPurposes,
  originsMax,
  networksMax,
  rotationsMax,
  teamNameSchema,
  type Teams,
  createTeams,
} from '@tollgate/teams';
import { Argument, type Command, InvalidArgumentError } from 'commander';
import { keyLines, lastUsesOf, toKeyJson } from './key-table.ts';
import {
  approvalLines,
  limitLines,
  registerApprovalCommand,
  registerLimitCommand,
  registerWalletCommand,
  walletText,
} from './money-commands.ts';
import type { CommandResult, CommandTools, RunCommand } from './command.ts';

/** The events of every change that is made by hand name the person. */
export function teamsOf(tools: CommandTools): Teams {
  const { teamKeys } = tools;
  if (teamKeys === undefined) throw new RangeError('these tools have no keys for the events of teams');
  return createTeams({ ...tools, teamKeys, actor: tools.person });
}

/** @throws InvalidArgumentError for what no team can be called. */
export function parseTeamName(text: string): string {
  const { success, error } = teamNameSchema.safeParse(text);
  if (!success) throw new InvalidArgumentError(`It ${error.issues[0]?.message ?? 'is not a name'}.`);
  return text;
}

export const teamArgument = (syntax: string, description: string): Argument =>
  new Argument(syntax, description).argParser(parseTeamName);

export function registerTeamCommands(program: Command, run: RunCommand): void {
  const team = program.command('team').description('teams that use the gateway');
  team
    .command('add')
    .description('add a team; its keys are issued by `key issue`')
    .addArgument(teamArgument('<name>', 'lower-case letters, digits and hyphens'))
    .action((name: string) => run((tools) => addTeam(teamsOf(tools), name)));
  team
    .command('list')
    .description('show all teams')
    .action(() => run(async (tools) => toList(await teamsOf(tools).list(), tools.clock.now())));
  team
    .command('show')
    .description('show one team: its keys, where its URLs may point and what its payouts are taken from')
    .addArgument(teamArgument('<name>', 'the team'))
    .action((name: string) => run(async (tools) => showTeam(tools, name)));
  registerAllowOrigins(team, run);
  registerWalletCommand(team, run, { teamArgument, changeTeam });
  registerApprovalCommand(team, run, { teamArgument, changeTeam });
  registerLimitCommand(team, run, { teamArgument, changeTeam });
}

type OriginOptions = { [Purpose in OriginPurpose]?: string[] | false };

function registerAllowOrigins(team: Command, run: RunCommand): void {
  const command: Command = team
    .command('allow-origins')
    .description(
      'set where the URLs of a team may point; each list takes the place of the one before\n' +
        'an origin is https://host[:port], or of this machine: http://localhost:8080, http://127.0.0.1:* (any port)',
    )
    .addArgument(teamArgument('<name>', 'the team'))
    .option('--callback <origin...>', 'where webhooks of the team may go; nowhere before this is set')
    .option('--no-callback', 'send the team no webhooks')
    .option(
      '--redirect <origin...>',
      'where customers may be sent after a payment; to any https URL before this is set',
    )
    .option('--no-redirect', 'send customers nowhere')
    .action((name: string, options: OriginOptions) => {
      const commands = toCommands(options);
      if (commands.length === 0) command.error("error: missing option '--callback' or '--redirect'");
      return run((tools) => changeTeam(tools, name, () => commands));
    });
}

const toCommands = (options: OriginOptions): TeamCommand[] =>
  originPurposes.flatMap((purpose) => {
    const origins = options[purpose];
    if (origins === undefined) return [];
    return [{ type: 'AllowOrigins', purpose, origins: origins === false ? [] : origins }];
  });

async function addTeam(teams: Teams, name: string): Promise<CommandResult> {
  const refusal = await teams.change(name, () => [{ type: 'AddTeam', name }]);
  if (refusal !== undefined) return refused(name, refusal);
  return { kind: 'done', text: `Added ${name}. It has no key yet: key issue ${name} --help`, json: { name } };
}

async function changeTeam(
  tools: CommandTools,
  name: string,
  commandsFor: Parameters<Teams['change']>[1],
): Promise<CommandResult> {
  const refusal = await teamsOf(tools).change(name, commandsFor);
  return refusal === undefined ? showTeam(tools, name) : refused(name, refusal);
}

async function showTeam(tools: CommandTools, name: string): Promise<CommandResult> {
  const team = await teamsOf(tools).find(name);
  const now = tools.clock.now();
  if (team === undefined) return refused(name, { code: 'team_not_found' });
  const lastUses = await lastUsesOf(tools.store, team);
  const { callback = [], redirect } = team.allowedOrigins;
  const text = [
    name,
    `  callbacks  ${callback.join(' ') || 'nowhere'}`,
    `  redirects  ${redirect === undefined ? 'any https URL' : redirect.join(' ') || 'nowhere'}`,
    `  payouts    ${walletText(team.money.wallet)}`,
    ...approvalLines(team.money),
    ...limitLines(team.money),
    ...keyLines(team, now, lastUses),
  ].join('\n');
  const allowedOrigins = { callback, redirect: redirect ?? null };
  return {
    kind: 'done',
    text,
    json: {
      name,
      allowedOrigins,
      ...team.money,
      keys: team.keys.map((key) => toKeyJson(key, now, lastUses)),
    },
  };
}

function toList(teams: readonly Team[], now: number): CommandResult {
  const rows = teams.map(({ name, keys }) => ({
    name,
    activeKeys: keys.filter((key) => key.active && !isExpired(key, now)).length,
  }));
  const lines = rows.map(({ name, activeKeys }) => `${name.padEnd(24)} active keys: ${activeKeys}`);
  return { kind: 'done', text: lines.join('\n') || 'There is no team.', json: rows };
}

const messageByRefusal: Record<TeamRefusal['code'], (name: string, refusal: TeamRefusal) => string> = {
  team_exists: (name) => `The team ${name} exists already.`,
  team_not_found: (name) => `There is no team ${name}; team list shows those that there are.`,
  key_exists: (name) => `${name} has another key of this id.`,
  key_not_found: (name) => `<keyId> is none of the keys of ${name}; key list ${name} shows them.`,
  too_many_active_keys: (name) =>
    `${name} has ${activeKeysMax} active keys in this environment already; key revoke ${name} <keyId> makes room.`,
  too_many_origins: () => `A team may have ${originsMax} origins in each list at most.`,
  expiry_in_past: () => 'The time of --expires must be in the future.',
  too_many_networks: () => `A key may have ${networksMax} networks at most.`,
  network_invalid: (_name, { network = '' }) =>
    `${JSON.stringify(network)} is no network; write it as 10.20.0.0/16, 2001:db8::/32 or an address.`,
  too_many_rotations: (name) => `The webhook secrets of ${name} were rotated ${rotationsMax} times already.`,
  origin_invalid: (_name, { origin = '' }) =>
    `${JSON.stringify(origin)} is no origin that can be allowed; write https://host[:port], or http:// and a loopback host.`,
};

/** An origin is not right or wrong as things stand. */
const wrongAsCalled: readonly TeamRefusal['code'][] = [
  ...(['origin_invalid', 'too_many_origins', 'network_invalid', 'too_many_networks'] as const),
  'expiry_in_past',
];

/** What stands against a change of the team, as a sentence. */
export const refused = (name: string, refusal: TeamRefusal): CommandResult => ({
  kind: wrongAsCalled.includes(refusal.code) ? 'usage' : 'refused',
  message: messageByRefusal[refusal.code](name, refusal),
});
