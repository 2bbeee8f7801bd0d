/** A team that uses the gateway, and its keys (stream `team-<name>`). Secrets of keys are never here, only their hashes. */
import { z } from 'zod';
import { InvariantViolation, unreachable } from './invariant.ts';
import type { Decision } from './payment-commands.ts';
import { environmentSchema, type Environment } from './payment-events.ts';

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

export interface AddTeam {
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
}
export interface RevokeKey {
  type: 'RevokeKey';
  keyId: string;
}
export type TeamCommand = AddTeam | IssueKey | RevokeKey;

export const teamEventSchemas = {
  TeamAdded: z.object({ name: teamNameSchema }),
  KeyIssued: z.object({
    keyId: z.string(),
    environment: environmentSchema,
    scopes: z.array(scopeSchema),
    secretHash: z.string(),
  }),
  KeyRevoked: z.object({ keyId: z.string() }),
} as const;
export type TeamEventType = keyof typeof teamEventSchemas;
export type TeamEvent = {
  [Type in TeamEventType]: { type: Type; data: z.infer<(typeof teamEventSchemas)[Type]> };
}[TeamEventType];

export const teamStreamPrefix = 'team-';
export const teamStream = (name: string): string => `${teamStreamPrefix}${name}`;

const isTeamEventType = (type: string): type is TeamEventType => Object.hasOwn(teamEventSchemas, type);

/** Decodes a stored event. @throws z.ZodError or RangeError for what no version of ours has written. */
export function decodeTeamEvent(stored: { type: string; data: unknown }): TeamEvent {
  if (!isTeamEventType(stored.type)) throw new RangeError(`unknown event type ${stored.type}`);
  return { type: stored.type, data: teamEventSchemas[stored.type].parse(stored.data) } as TeamEvent;
}

export interface TeamKey {
  keyId: string;
  environment: Environment;
  scopes: readonly Scope[];
  secretHash: string;
  active: boolean;
}
export interface Team {
  name: string;
  keys: readonly TeamKey[];
}
export type TeamState = Team | undefined;

export interface TeamRefusal {
  code: 'team_exists' | 'team_not_found' | 'key_exists' | 'key_not_found' | 'too_many_active_keys';
}
export type TeamDecision = Decision<TeamEvent, TeamRefusal>;

const refuse = (code: TeamRefusal['code']): TeamDecision => ({ kind: 'refused', refusal: { code } });

export function decideTeam(state: TeamState, command: TeamCommand): TeamDecision {
  if (command.type === 'AddTeam') {
    if (state !== undefined) return refuse('team_exists');
    return { kind: 'events', events: [{ type: 'TeamAdded', data: { name: command.name } }] };
  }
  if (state === undefined) return refuse('team_not_found');
  return command.type === 'IssueKey' ? issueKey(state, command) : revokeKey(state, command);
}

function issueKey(team: Team, command: IssueKey): TeamDecision {
  const { keyId, environment, secretHash } = command;
  const known = team.keys.find((key) => key.keyId === keyId);
  if (known !== undefined)
    return known.active && isSameKey(known, command) ? { kind: 'events', events: [] } : refuse('key_exists');
  const active = team.keys.filter((key) => key.active && key.environment === environment);
  if (active.length >= activeKeysMax) return refuse('too_many_active_keys');
  const data = { keyId, environment, scopes: [...command.scopes], secretHash };
  return { kind: 'events', events: [{ type: 'KeyIssued', data }] };
}

// A repeat is the same in all its terms: somebody who asks for other scopes must not believe to have got them.
const isSameKey = (known: TeamKey, command: IssueKey): boolean =>
  known.secretHash === command.secretHash &&
  known.environment === command.environment &&
  scopes.every((scope) => known.scopes.includes(scope) === command.scopes.includes(scope));

function revokeKey(team: Team, { keyId }: RevokeKey): TeamDecision {
  const known = team.keys.find((key) => key.keyId === keyId);
  if (known === undefined) return refuse('key_not_found');
  return { kind: 'events', events: known.active ? [{ type: 'KeyRevoked', data: { keyId } }] : [] };
}

export function evolveTeam(state: TeamState, event: TeamEvent): Team {
  if (event.type === 'TeamAdded') {
    if (state !== undefined) throw new InvariantViolation('TeamAdded came a second time');
    return { name: event.data.name, keys: [] };
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
    default:
      return unreachable(event);
  }
}
