/** A team that uses the gateway, and its keys (stream `team-<name>`). Secrets of keys are never here, only their hashes. */
import { z } from 'zod';
import { normaliseOrigin, originPurposes, originsMax, type OriginPurpose } from './allowed-origins.ts';
import type { Decision } from '@tollgate/payment-domain';
import {
  type EventOf,
  InvariantViolation,
  eventFamily,
  unreachable,
  environmentSchema,
  type Environment,
} from '@tollgate/payment-domain';

export * from './allowed-origins.ts';

export const scopes = ['payments', 'refunds', 'payouts', 'read', 'cards', 'admin'] as const;
export const scopeSchema = z.enum(scopes);
export type Scope = z.infer<typeof scopeSchema>;

export const teamNameSchema = z
  .string()
  .regex(
    /^[a-z][a-z0-9-]{0,62}$/,
    'must be 1 to 63 lower-case letters, digits and hyphens, beginning with a letter',
  );

/** Active keys of a team per environment at most: the one in use and the one that replaces it. */
export const activeKeysMax = 2;

/** Requests per second that a key may be allowed. */
export const requestsPerSecondSchema = z.int().min(1).max(100_000);

interface AddTeam {
  type: 'AddTeam';
  name: string;
}
export interface IssueKey {
  type: 'IssueKey';
  keyId: string;
  environment: Environment;
  scopes: readonly Scope[];
  /** SHA-256 of the key's secret, hexadecimal. */
  secretHash: string;
  /** Where the key has a limit of its own. */
  requestsPerSecondMax?: number;
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
export type TeamCommand = AddTeam | IssueKey | RevokeKey | AllowOrigins;

export const teamEventSchemas = {
  TeamAdded: z.object({ name: teamNameSchema }),
  KeyIssued: z.object({
    keyId: z.string(),
    environment: environmentSchema,
    scopes: z.array(scopeSchema),
    secretHash: z.string(),
    requestsPerSecondMax: requestsPerSecondSchema.optional(),
  }),
  KeyRevoked: z.object({ keyId: z.string() }),
  OriginsAllowed: z.object({ purpose: z.enum(originPurposes), origins: z.array(z.string()) }),
} as const;
export type TeamEvent = EventOf<typeof teamEventSchemas>;

export const teamStreamPrefix = 'team-';
export const teamStream = (name: string): string => `${teamStreamPrefix}${name}`;

export const { decode: decodeTeamEvent, versionOf: versionOfTeamEvent } = eventFamily(teamEventSchemas);

export interface TeamKey {
  keyId: string;
  environment: Environment;
  scopes: readonly Scope[];
  secretHash: string;
  requestsPerSecondMax?: number | undefined;
  active: boolean;
}
export interface Team {
  name: string;
  keys: readonly TeamKey[];
  /** The lists that the team has set. */
  allowedOrigins: { readonly [Purpose in OriginPurpose]?: readonly string[] };
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
    | 'origin_invalid';
  /** The one that cannot be allowed, as it was given. */
  origin?: string;
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
    default:
      return unreachable(command);
  }
}

function issueKey(team: Team, command: IssueKey): TeamDecision {
  const { keyId, environment, secretHash, requestsPerSecondMax } = command;
  const known = team.keys.find((key) => key.keyId === keyId);
  if (known !== undefined)
    return known.active && isSameKey(known, command) ? { kind: 'events', events: [] } : refuse('key_exists');
  const active = team.keys.filter((key) => key.active && key.environment === environment);
  if (active.length >= activeKeysMax) return refuse('too_many_active_keys');
  const data = { keyId, environment, scopes: [...command.scopes], secretHash };
  const ownLimit = requestsPerSecondMax === undefined ? {} : { requestsPerSecondMax };
  return { kind: 'events', events: [{ type: 'KeyIssued', data: { ...data, ...ownLimit } }] };
}

// A repeat is the same in all its terms: somebody who asks for other scopes must not believe to have got them.
const isSameKey = (known: TeamKey, command: IssueKey): boolean =>
  known.secretHash === command.secretHash &&
  known.environment === command.environment &&
  known.requestsPerSecondMax === command.requestsPerSecondMax &&
  scopes.every((scope) => known.scopes.includes(scope) === command.scopes.includes(scope));

function revokeKey(team: Team, { keyId }: RevokeKey): TeamDecision {
  const known = team.keys.find((key) => key.keyId === keyId);
  if (known === undefined) return refuse('key_not_found');
  return { kind: 'events', events: known.active ? [{ type: 'KeyRevoked', data: { keyId } }] : [] };
}

function allowOrigins(team: Team, { purpose, origins: given }: AllowOrigins): TeamDecision {
  const origins = new Set<string>();
  for (const origin of given) {
    const normalised = normaliseOrigin(origin);
    if (normalised === undefined) return { kind: 'refused', refusal: { code: 'origin_invalid', origin } };
    origins.add(normalised);
  }
  if (origins.size > originsMax) return refuse('too_many_origins');
  const known = team.allowedOrigins[purpose];
  // No list and an empty one are two things: only the second forbids every redirect.
  if (known?.length === origins.size && known.every((origin) => origins.has(origin)))
    return { kind: 'events', events: [] };
  const data = { purpose, origins: [...origins] };
  return { kind: 'events', events: [{ type: 'OriginsAllowed', data }] };
}

export function evolveTeam(state: TeamState, event: TeamEvent): Team {
  if (event.type === 'TeamAdded') {
    if (state !== undefined) throw new InvariantViolation('TeamAdded came a second time');
    return { name: event.data.name, keys: [], allowedOrigins: {} };
  }
  if (state === undefined) throw new InvariantViolation(`${event.type} came before TeamAdded`);
  switch (event.type) {
    case 'KeyIssued':
      return { ...state, keys: [...state.keys, { ...event.data, active: true }] };
    case 'KeyRevoked':
      return {
        ...state,
        keys: state.keys.map((key) => (key.keyId === event.data.keyId ? { ...key, active: false } : key)),
      };
    case 'OriginsAllowed': {
      const { purpose, origins } = event.data;
      return { ...state, allowedOrigins: { ...state.allowedOrigins, [purpose]: origins } };
    }
    default:
      return unreachable(event);
  }
}
