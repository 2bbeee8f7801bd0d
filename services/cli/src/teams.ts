/** `team …`: teams, the allowed origins of their URLs, and the limits of their payouts. */
import { type Wallet, limitedOperations } from '@tollgate/core';
import { formatAmount } from '@tollgate/core/money';
import { omitUndefined, originPurposes, originsMax } from '@tollgate/service-kit';
import {
  type CommandResult,
  argument,
  atLeastOne,
  choice,
  done,
  exactlyOne,
  flag,
  list,
  option,
  requiredOption,
  text,
} from '@tollgate/service-kit/command-line';
import {
  type Team,
  type TeamCommand,
  type TeamRefusal,
  type Teams,
  activeKeysMax,
  createTeams,
  isExpired,
  networksMax,
  rotationsMax,
} from '@tollgate/teams';
import { keyLines, lastUsesOf, toKeyJson } from './key-table.ts';
import * as read from './parameters.ts';
import { type CommandTools, command } from './tools.ts';

/** The events of every change record the person. */
export function teamsOf(tools: CommandTools): Teams {
  return createTeams({ ...tools, actor: tools.person });
}

const currency = requiredOption('code', 'ISO 4217 alphabetic code in capitals', read.currency);

export const teamCommands = [
  command(
    'team add',
    'add a team; its keys are issued by `key issue`',
    { name: argument('name', 'lower-case letters, digits and hyphens', read.teamName) },
    async (tools, { name }) => {
      const refusal = await teamsOf(tools).change(name, () => [{ type: 'AddTeam', name }]);
      if (refusal !== undefined) return refused(name, refusal);
      return done(`Added ${name}. It has no key yet: key issue ${name} --help`, { name });
    },
  ),
  command('team list', 'show all teams', {}, async (tools) => {
    const teams = await teamsOf(tools).list();
    const now = tools.clock.now();
    const rows = teams.map(({ name, keys }) => ({
      name,
      activeKeys: keys.filter((key) => key.active && !isExpired(key, now)).length,
    }));
    const lines = rows.map(({ name, activeKeys }) => `${name.padEnd(24)} active keys: ${activeKeys}`);
    return done(lines.join('\n') || 'There are no teams.', rows);
  }),
  command('team show', 'show a team: keys, URLs, wallet, limits', { team: read.team }, (tools, { team }) =>
    showTeam(tools, team),
  ),
  command(
    'team allow-origins',
    'set the allowed origins of a team; each list replaces the previous one\n' +
      'an origin is https://host[:port], or of this machine: http://localhost:8080, http://127.0.0.1:* (any port)',
    {
      team: read.team,
      callback: list('origin', 'allowed origins of webhooks; none by default', text),
      withoutCallback: flag('send the team no webhooks'),
      redirect: list(
        'origin',
        'allowed origins of redirects after a payment; any https URL by default',
        text,
      ),
      withoutRedirect: flag('send customers nowhere'),
    },
    (tools, { team, callback, redirect, withoutCallback, withoutRedirect }) => {
      const wanted = { callback: withoutCallback ? [] : callback, redirect: withoutRedirect ? [] : redirect };
      const commands = originPurposes.flatMap((purpose): TeamCommand[] => {
        const origins = wanted[purpose];
        return origins === undefined ? [] : [{ type: 'AllowOrigins', purpose, origins }];
      });
      return changeTeam(tools, team, commands);
    },
    atLeastOne('callback', 'withoutCallback', 'redirect', 'withoutRedirect'),
  ),
  command(
    'team wallet',
    'set the source of the payouts of a team',
    {
      team: read.team,
      own: flag("the team's own wallet"),
      shared: option('wallet', 'a wallet shared by all teams that name it', read.walletName),
      providerBalance: flag("the provider's balance, including the money of other teams"),
    },
    (tools, { team, shared, providerBalance }) => {
      const otherwise: Wallet = providerBalance ? { kind: 'provider' } : { kind: 'own' };
      const wallet: Wallet = shared === undefined ? otherwise : { kind: 'shared', name: shared };
      return changeTeam(tools, team, [{ type: 'ChooseWallet', wallet }]);
    },
    exactlyOne('own', 'shared', 'providerBalance'),
  ),
  command(
    'team approval',
    'require approval of payouts above a sum, by another key with the scope approvals',
    {
      team: read.team,
      environment: read.environmentOf('of the payouts'),
      currency,
      above: option('sum', 'in minor units; 0: every payout waits', read.sumFrom(0)),
      none: flag('no payout waits'),
    },
    (tools, { team, environment, currency, above = null }) =>
      changeTeam(tools, team, [{ type: 'RequireApproval', environment, currency, above }]),
    exactlyOne('above', 'none'),
  ),
  command(
    'team limit',
    'limit the amounts of a team or key per call and per day (UTC)\n' +
      'each limit replaces the previous one; an omitted sum is not limited',
    {
      team: read.team,
      environment: read.environmentOf('of the keys'),
      operation: requiredOption('operation', limitedOperations.join(', '), choice(limitedOperations)),
      currency,
      key: option('keyId', 'the limited key; the whole team by default', text),
      perCall: option('sum', 'of one call, in minor units', read.sumFrom(1)),
      perDay: option('sum', 'of one day in UTC, in minor units', read.sumFrom(1)),
      none: flag('remove the limit'),
    },
    (tools, { team, environment, operation, currency, key, perCall = null, perDay = null }) => {
      const of = { environment, operation, currency, ...omitUndefined({ keyId: key }) };
      return changeTeam(tools, team, [{ type: 'LimitMoney', ...of, perCall, perDay }]);
    },
    (values) =>
      values.none
        ? exactlyOne('none', 'perCall', 'perDay')(values)
        : atLeastOne('perCall', 'perDay', 'none')(values),
  ),
];

async function changeTeam(
  tools: CommandTools,
  name: string,
  commands: readonly TeamCommand[],
): Promise<CommandResult> {
  const refusal = await teamsOf(tools).change(name, () => [...commands]);
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
  const keys = team.keys.map((key) => toKeyJson(key, now, lastUses));
  return done(text, { name, allowedOrigins, ...team.money, keys });
}

const messageByRefusal: Record<TeamRefusal['code'], (name: string, refusal: TeamRefusal) => string> = {
  team_exists: (name) => `The team ${name} exists already.`,
  team_not_found: (name) => `Unknown team ${name}. List teams: team list.`,
  key_exists: (name) => `${name} has another key with this id.`,
  key_not_found: (name) => `${name} has no key with this id. List keys: key list ${name}.`,
  too_many_active_keys: (name) =>
    `${name} has ${activeKeysMax} active keys in this environment already; key revoke ${name} <keyId> makes room.`,
  too_many_origins: () => `A team may have ${originsMax} origins in each list at most.`,
  expiry_in_past: () => 'The time of --expires must be in the future.',
  too_many_networks: () => `A key may have ${networksMax} networks at most.`,
  network_invalid: (_name, { network = '' }) =>
    `${JSON.stringify(network)} is not a network. Write 10.20.0.0/16, 2001:db8::/32 or an address.`,
  too_many_rotations: (name) => `The webhook secrets of ${name} were rotated ${rotationsMax} times already.`,
  origin_invalid: (_name, { origin = '' }) =>
    `${JSON.stringify(origin)} cannot be allowed. Write https://host[:port], or http:// and a loopback host.`,
};

/** Errors of the call itself, which do not depend on the current state. */
const wrongAsCalled: readonly TeamRefusal['code'][] = [
  ...(['origin_invalid', 'too_many_origins', 'network_invalid', 'too_many_networks'] as const),
  'expiry_in_past',
];

/** The reason a change of the team is refused, as a sentence. */
export const refused = (name: string, refusal: TeamRefusal): CommandResult => ({
  kind: wrongAsCalled.includes(refusal.code) ? 'usage' : 'refused',
  message: messageByRefusal[refusal.code](name, refusal),
});

/** One line for each limit. */
const limitLines = ({ limits }: Team['money']): string[] =>
  limits.map(({ environment, operation, currency, keyId, perCall, perDay }) => {
    const sums = [
      ...(perCall === null ? [] : [`${formatAmount(perCall, currency)} a call`]),
      ...(perDay === null ? [] : [`${formatAmount(perDay, currency)} a day`]),
    ].join(', ');
    const whose = keyId === undefined ? '' : ` of the key ${keyId}`;
    return `  limit      ${environment} ${operation}s${whose}: ${sums}`;
  });

/** The payouts that need approval, one line for each rule. */
const approvalLines = ({ approvals }: Team['money']): string[] =>
  approvals.map(
    ({ environment, currency, above }) =>
      `  approval   required for ${environment} payouts above ${formatAmount(above, currency)}`,
  );

/** The wallet that payouts are taken from, in a few words. */
function walletText(wallet: Wallet): string {
  if (wallet.kind === 'own') return "from the team's own wallet";
  return wallet.kind === 'shared' ? `from the shared wallet ${wallet.name}` : "from the provider's balance";
}
