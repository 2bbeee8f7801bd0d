/** `team …`: teams, the allowed origins of their URLs, and the limits of their payouts. */
import {
  type Environment,
  limitedOperations,
  type OriginPurpose,
  type Wallet,
  originPurposes,
  originsMax,
} from '@tollgate/core';
import { formatAmount } from '@tollgate/core/money';
import { omitUndefined } from '@tollgate/service-kit';
import {
  type CommandResult,
  type ValuesOf,
  choice,
  done,
  flag,
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
import type { CommandTools } from './tools.ts';

/** The events of every change record the person. */
export function teamsOf(tools: CommandTools): Teams {
  return createTeams({ ...tools, actor: tools.person });
}

export async function addTeam(tools: CommandTools, { name }: { name: string }): Promise<CommandResult> {
  const refusal = await teamsOf(tools).change(name, () => [{ type: 'AddTeam', name }]);
  if (refusal !== undefined) return refused(name, refusal);
  return done(`Added ${name}. It has no key yet: key issue ${name} --help`, { name });
}

async function changeTeam(
  tools: CommandTools,
  name: string,
  commands: readonly TeamCommand[],
): Promise<CommandResult> {
  const refusal = await teamsOf(tools).change(name, () => [...commands]);
  return refusal === undefined ? showTeam(tools, { team: name }) : refused(name, refusal);
}

type Origins = { [Purpose in OriginPurpose]: string[] | undefined } & {
  withoutCallback: boolean;
  withoutRedirect: boolean;
};

export function allowOrigins(
  tools: CommandTools,
  { team, callback, redirect, withoutCallback, withoutRedirect }: Origins & { team: string },
): Promise<CommandResult> {
  const wanted = { callback: withoutCallback ? [] : callback, redirect: withoutRedirect ? [] : redirect };
  const commands = originPurposes.flatMap((purpose): TeamCommand[] => {
    const origins = wanted[purpose];
    return origins === undefined ? [] : [{ type: 'AllowOrigins', purpose, origins }];
  });
  return changeTeam(tools, team, commands);
}

export const chooseWallet = (
  tools: CommandTools,
  { team, shared, providerBalance }: { team: string; shared: string | undefined; providerBalance: boolean },
): Promise<CommandResult> => {
  const otherwise: Wallet = providerBalance ? { kind: 'provider' } : { kind: 'own' };
  const wallet: Wallet = shared === undefined ? otherwise : { kind: 'shared', name: shared };
  return changeTeam(tools, team, [{ type: 'ChooseWallet', wallet }]);
};

export const requireApproval = (
  tools: CommandTools,
  { team, environment, currency, above }: MoneyOptions & { above: number | undefined },
): Promise<CommandResult> =>
  changeTeam(tools, team, [{ type: 'RequireApproval', environment, currency, above: above ?? null }]);

interface MoneyOptions {
  team: string;
  environment: Environment;
  currency: string;
}

export const limitParameters = {
  team: read.team,
  environment: read.environmentOf('of the keys'),
  operation: requiredOption('operation', limitedOperations.join(', '), choice(limitedOperations)),
  currency: requiredOption('code', 'ISO 4217 alphabetic code in capitals', read.currency),
  key: option('keyId', 'the limited key; the whole team by default', text),
  perCall: option('sum', 'of one call, in minor units', read.sumFrom(1)),
  perDay: option('sum', 'of one day in UTC, in minor units', read.sumFrom(1)),
  none: flag('remove the limit'),
};
type LimitOptions = ValuesOf<typeof limitParameters>;

export const limitMoney = (
  tools: CommandTools,
  { team, environment, operation, currency, key, perCall, perDay }: LimitOptions,
): Promise<CommandResult> => {
  const of = { environment, operation, currency, ...omitUndefined({ keyId: key }) };
  const sums = { perCall: perCall ?? null, perDay: perDay ?? null };
  return changeTeam(tools, team, [{ type: 'LimitMoney', ...of, ...sums }]);
};

export async function showTeam(
  tools: CommandTools,
  { team: name }: { team: string },
): Promise<CommandResult> {
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

export async function listTeams(tools: CommandTools): Promise<CommandResult> {
  const teams = await teamsOf(tools).list();
  const now = tools.clock.now();
  const rows = teams.map(({ name, keys }) => ({
    name,
    activeKeys: keys.filter((key) => key.active && !isExpired(key, now)).length,
  }));
  const lines = rows.map(({ name, activeKeys }) => `${name.padEnd(24)} active keys: ${activeKeys}`);
  return done(lines.join('\n') || 'There are no teams.', rows);
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
