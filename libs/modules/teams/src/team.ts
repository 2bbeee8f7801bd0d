/** A team that uses the gateway, and its keys (stream `team-<name>`). Secrets of keys are never here, only their hashes. */
import { z } from 'zod';
import {
  type Decision,
  InvariantViolation,
  unreachable,
  environmentSchema,
  type Environment,
} from '@tollgate/core';
import {
  omitUndefined,
  normalizeOrigin,
  originPurposes,
  originsMax,
  type OriginPurpose,
} from '@tollgate/service-kit';
import { networksMax, normalizeNetwork } from './networks.ts';
import {
  rotateWebhookSecret,
  webhookRotationSchema,
  type RotateWebhookSecret,
  type WebhookRotation,
} from './webhook-rotation.ts';
import {
  decideMoney,
  evolveMoney,
  moneyEventSchemas,
  noMoneySettings,
  type MoneyCommand,
  type MoneySettings,
} from './money-settings.ts';
import { type EventOf, eventFamily } from '@tollgate/event-store';

export const scopes = [
  'payments',
  'refunds',
  'payouts',
  'approvals',
  'read',
  'cards',
  'stored-cards',
  'admin',
] as const;
export const scopeSchema = z.enum(scopes);
export type Scope = z.infer<typeof scopeSchema>;

export const teamNameSchema = z
  .string()
  .regex(
    /^[a-z][a-z0-9-]{0,62}$/,
    'must be 1 to 63 lower-case letters, digits and hyphens, beginning with a letter',
  );

/**
 * Maximum active keys of a team per environment: the one in use and its replacement. Keys that approve payouts count
 * separately, because another key must make the request.
 */
export const activeKeysMax = 2;

/** Maximum rate limit of a key, requests per second. */
export const requestsPerSecondSchema = z.int().min(1).max(100_000);

interface AddTeam {
  type: 'AddTeam';
  name: string;
}
const keySchema = z.object({
  keyId: z.string(),
  environment: environmentSchema,
  scopes: z.array(scopeSchema).readonly(),
  /** SHA-256 of the key's secret, hexadecimal. */
  secretHash: z.string(),
  /** If the key has its own limit. */
  requestsPerSecondMax: requestsPerSecondSchema.optional(),
  /** Expiry, milliseconds since the Unix epoch; absent: never. */
  expiresAt: z.int().optional(),
  /** Networks from which it may be used (`normalizeNetwork`); absent for everywhere. */
  networks: z.array(z.string()).readonly().optional(),
});
export interface IssueKey extends z.infer<typeof keySchema> {
  type: 'IssueKey';
  /** The time of the decision, milliseconds since the Unix epoch. */
  at: number;
}
interface RevokeKey {
  type: 'RevokeKey';
  keyId: string;
}
/** Replaces the whole list of one purpose. */
export interface AllowOrigins {
  type: 'AllowOrigins';
  purpose: OriginPurpose;
  origins: readonly string[];
}
export type TeamCommand = AddTeam | IssueKey | RevokeKey | AllowOrigins | RotateWebhookSecret | MoneyCommand;

export const teamEventSchemas = {
  TeamAdded: z.object({ name: teamNameSchema }),
  KeyIssued: keySchema,
  KeyRevoked: z.object({ keyId: z.string() }),
  OriginsAllowed: z.object({ purpose: z.enum(originPurposes), origins: z.array(z.string()) }),
  WebhookSecretRotated: webhookRotationSchema,
  ...moneyEventSchemas,
} as const;
export type TeamEvent = EventOf<typeof teamEventSchemas>;
/** Types of changes, as the security log names them. */
export const teamChanges = Object.keys(teamEventSchemas) as TeamEvent['type'][];

export const teamStreamPrefix = 'team-';
export const teamStream = (name: string): string => `${teamStreamPrefix}${name}`;

export const { decode: decodeTeamEvent, versionOf: versionOfTeamEvent } = eventFamily(teamEventSchemas);

export interface TeamKey extends z.infer<typeof keySchema> {
  /** False once revoked. */
  active: boolean;
}

/** True if the key has expired. */
export const isExpired = ({ expiresAt }: Pick<TeamKey, 'expiresAt'>, now: number): boolean =>
  expiresAt !== undefined && expiresAt <= now;

export interface Team {
  name: string;
  keys: readonly TeamKey[];
  allowedOrigins: { readonly [Purpose in OriginPurpose]?: readonly string[] };
  webhookRotations: readonly WebhookRotation[];
  money: MoneySettings;
}
export type TeamState = Team | undefined;

export interface TeamRefusal {
  code:
    | 'team_exists'
    | 'team_not_found'
    | 'key_exists'
    | 'key_not_found'
    | 'too_many_active_keys'
    | 'too_many_origins'
    | 'origin_invalid'
    | 'expiry_in_past'
    | 'too_many_networks'
    | 'network_invalid'
    | 'too_many_rotations';
  /** The origin that is not allowed, as supplied. */
  origin?: string;
  network?: string;
}
export type TeamDecision = Decision<TeamEvent, TeamRefusal>;

const refuse = (code: TeamRefusal['code']): TeamDecision => ({ kind: 'refused', refusal: { code } });

export function decideTeam(state: TeamState, command: TeamCommand): TeamDecision {
  if (command.type === 'AddTeam') {
    if (state !== undefined) return refuse('team_exists');
    return { kind: 'events', events: [{ type: 'TeamAdded', data: { name: command.name } }] };
  }
  if (state === undefined) return refuse('team_not_found');
  switch (command.type) {
    case 'IssueKey':
      return issueKey(state, command);
    case 'RevokeKey':
      return revokeKey(state, command);
    case 'AllowOrigins':
      return allowOrigins(state, command);
    case 'RotateWebhookSecret':
      return rotateWebhookSecret(state, command);
    case 'ChooseWallet':
    case 'RequireApproval':
      return decideMoney(state.money, command);
    case 'LimitMoney':
      return limitMoney(state, command);
    default:
      return unreachable(command);
  }
}

function issueKey(team: Team, command: IssueKey): TeamDecision {
  const { keyId, environment, secretHash, requestsPerSecondMax, expiresAt, at } = command;
  const known = team.keys.find((key) => key.keyId === keyId);
  if (known !== undefined)
    return known.active && isSameKey(known, command) ? { kind: 'events', events: [] } : refuse('key_exists');
  const networks = command.networks?.map((network) => normalizeNetwork(network) ?? { invalid: network });
  const invalid = networks?.find((network) => typeof network === 'object');
  if (invalid !== undefined)
    return { kind: 'refused', refusal: { code: 'network_invalid', network: invalid.invalid } };
  if ((networks?.length ?? 0) > networksMax) return refuse('too_many_networks');
  if (isExpired({ expiresAt }, at)) return refuse('expiry_in_past');
  const ofItsDuty = activeKeysIn(team, environment, at).filter(
    (key) => mayApprove(key) === mayApprove(command),
  );
  if (ofItsDuty.length >= activeKeysMax) return refuse('too_many_active_keys');
  const written = networks?.filter((network) => typeof network === 'string');
  const terms = { requestsPerSecondMax, expiresAt, networks: written };
  const data = { keyId, environment, secretHash, scopes: command.scopes, ...omitUndefined(terms) };
  return { kind: 'events', events: [{ type: 'KeyIssued', data }] };
}

const mayApprove = ({ scopes: granted }: Pick<TeamKey, 'scopes'>): boolean => granted.includes('approvals');

/** Valid keys of one environment at that time. */
export const activeKeysIn = (team: Team, environment: Environment, now: number): readonly TeamKey[] =>
  team.keys.filter((key) => key.active && key.environment === environment && !isExpired(key, now));

// A repeat must equal all terms: a caller that asks for other scopes must not believe that they were granted.
const isSameKey = (known: TeamKey, command: IssueKey): boolean =>
  known.secretHash === command.secretHash &&
  known.environment === command.environment &&
  known.requestsPerSecondMax === command.requestsPerSecondMax &&
  known.expiresAt === command.expiresAt &&
  isSameList(known.networks, command.networks?.map(normalizeNetwork)) &&
  scopes.every((scope) => known.scopes.includes(scope) === command.scopes.includes(scope));

const isSameList = (one: readonly unknown[] = [], other: readonly unknown[] = []): boolean =>
  one.length === other.length && one.every((each) => other.includes(each));

/** A limited key must exist: a mistyped id would limit nothing. */
function limitMoney(team: Team, command: Extract<MoneyCommand, { type: 'LimitMoney' }>): TeamDecision {
  const { keyId } = command;
  const isThere = keyId === undefined || team.keys.some((key) => key.keyId === keyId);
  return isThere ? decideMoney(team.money, command) : refuse('key_not_found');
}

function revokeKey(team: Team, { keyId }: RevokeKey): TeamDecision {
  const known = team.keys.find((key) => key.keyId === keyId);
  if (known === undefined) return refuse('key_not_found');
  return { kind: 'events', events: known.active ? [{ type: 'KeyRevoked', data: { keyId } }] : [] };
}

function allowOrigins(team: Team, { purpose, origins: asked }: AllowOrigins): TeamDecision {
  const origins = new Set<string>();
  for (const origin of asked) {
    const normalized = normalizeOrigin(origin);
    if (normalized === undefined) return { kind: 'refused', refusal: { code: 'origin_invalid', origin } };
    origins.add(normalized);
  }
  if (origins.size > originsMax) return refuse('too_many_origins');
  const known = team.allowedOrigins[purpose];
  // No list and an empty one differ: only the second forbids every redirect.
  if (known?.length === origins.size && known.every((origin) => origins.has(origin)))
    return { kind: 'events', events: [] };
  const data = { purpose, origins: [...origins] };
  return { kind: 'events', events: [{ type: 'OriginsAllowed', data }] };
}

export function evolveTeam(state: TeamState, event: TeamEvent): Team {
  if (event.type === 'TeamAdded') {
    if (state !== undefined) throw new InvariantViolation('TeamAdded was recorded twice');
    return {
      name: event.data.name,
      keys: [],
      allowedOrigins: {},
      webhookRotations: [],
      money: noMoneySettings,
    };
  }
  if (state === undefined) throw new InvariantViolation(`${event.type} occurred before TeamAdded`);
  switch (event.type) {
    case 'KeyIssued':
      return { ...state, keys: [...state.keys, { ...event.data, active: true }] };
    case 'KeyRevoked': {
      const { keyId } = event.data;
      return {
        ...state,
        keys: state.keys.map((key) => (key.keyId === keyId ? { ...key, active: false } : key)),
      };
    }
    case 'OriginsAllowed': {
      const { purpose, origins } = event.data;
      return { ...state, allowedOrigins: { ...state.allowedOrigins, [purpose]: origins } };
    }
    case 'WebhookSecretRotated':
      return { ...state, webhookRotations: [...state.webhookRotations, event.data] };
    case 'WalletChosen':
    case 'ApprovalRequired':
    case 'MoneyLimited':
      return { ...state, money: evolveMoney(state.money, event) };
    default:
      return unreachable(event);
  }
}
