import { expect, test } from 'vitest';
import { InvariantViolation } from './invariant.ts';
import {
  activeKeysMax,
  decideTeam,
  decodeTeamEvent,
  evolveTeam,
  teamEventSchemas,
  teamNameSchema,
  teamStream,
  type IssueKey,
  type TeamCommand,
  type TeamEvent,
  type TeamState,
} from './team.ts';

const added: TeamEvent = { type: 'TeamAdded', data: { name: 'shop' } };

const issueKey = (keyId: string, changes: Partial<IssueKey> = {}): IssueKey => ({
  type: 'IssueKey',
  keyId,
  environment: 'sandbox',
  scopes: ['payments', 'read'],
  secretHash: `hash of ${keyId}`,
  ...changes,
});

const issued = (keyId: string, changes: Partial<IssueKey> = {}): TeamEvent => {
  const { environment, scopes, secretHash } = issueKey(keyId, changes);
  return { type: 'KeyIssued', data: { keyId, environment, scopes: [...scopes], secretHash } };
};

const revoked = (keyId: string): TeamEvent => ({ type: 'KeyRevoked', data: { keyId } });

const fold = (history: readonly TeamEvent[]) => history.reduce<TeamState>(evolveTeam, undefined);
const decided = (history: readonly TeamEvent[], command: TeamCommand) => decideTeam(fold(history), command);
const events = (...expected: TeamEvent[]) => ({ kind: 'events', events: expected });
const refused = (code: string) => ({ kind: 'refused', refusal: { code } });

test('a team is added once', () => {
  expect(decided([], { type: 'AddTeam', name: 'shop' })).toEqual(events(added));
  expect(decided([added], { type: 'AddTeam', name: 'shop' })).toEqual(refused('team_exists'));
});

test('keys belong to a team that exists', () => {
  expect(decided([], issueKey('k1'))).toEqual(refused('team_not_found'));
  expect(decided([], { type: 'RevokeKey', keyId: 'k1' })).toEqual(refused('team_not_found'));
});

test('a key is issued with its environment, its scopes and the hash of its secret', () => {
  expect(decided([added], issueKey('k1'))).toEqual(events(issued('k1')));
});

test('the same key issued again writes nothing, in whatever order its scopes are named', () => {
  expect(decided([added, issued('k1')], issueKey('k1'))).toEqual(events());
  expect(decided([added, issued('k1')], issueKey('k1', { scopes: ['read', 'payments'] }))).toEqual(events());
});

// The replay check once compared identifier and hash only: somebody who asked for fewer scopes was told "done".
test.each([
  ['another secret', { secretHash: 'other' }],
  ['another environment', { environment: 'production' }],
  ['fewer scopes', { scopes: ['read'] }],
  ['more scopes', { scopes: ['payments', 'read', 'admin'] }],
  ['other scopes', { scopes: ['payments', 'cards'] }],
] as const)('a key identifier with %s is refused', (_, changes) => {
  expect(decided([added, issued('k1')], issueKey('k1', changes))).toEqual(refused('key_exists'));
});

test('a revoked key is not issued again', () => {
  expect(decided([added, issued('k1'), revoked('k1')], issueKey('k1'))).toEqual(refused('key_exists'));
});

test('two keys may be active in an environment, so that one can replace the other, and not three', () => {
  expect(activeKeysMax).toBe(2);
  expect(decided([added, issued('k1')], issueKey('k2'))).toEqual(events(issued('k2')));
  expect(decided([added, issued('k1'), issued('k2')], issueKey('k3'))).toEqual(
    refused('too_many_active_keys'),
  );
});

test('a repeat is a repeat where no further key would be allowed', () => {
  expect(decided([added, issued('k1'), issued('k2')], issueKey('k2'))).toEqual(events());
});

test('a revoked key makes room for another', () => {
  const history = [added, issued('k1'), issued('k2'), revoked('k1')];
  expect(decided(history, issueKey('k3'))).toEqual(events(issued('k3')));
});

test('keys of the other environment do not count', () => {
  const production = { environment: 'production' } as const;
  const history = [added, issued('k1'), issued('k2')];
  expect(decided(history, issueKey('k3', production))).toEqual(events(issued('k3', production)));
});

test('a key is revoked once; to revoke it again writes nothing', () => {
  const revoke: TeamCommand = { type: 'RevokeKey', keyId: 'k1' };
  expect(decided([added, issued('k1')], revoke)).toEqual(events(revoked('k1')));
  expect(decided([added, issued('k1'), revoked('k1')], revoke)).toEqual(events());
});

test('a key that was never issued cannot be revoked', () => {
  expect(decided([added, issued('k1')], { type: 'RevokeKey', keyId: 'k2' })).toEqual(
    refused('key_not_found'),
  );
});

test('a revoked key stays on record, inactive, and the other stays active', () => {
  expect(fold([added, issued('k1'), issued('k2'), revoked('k1')])).toEqual({
    name: 'shop',
    keys: [
      { ...issued('k1').data, active: false },
      { ...issued('k2').data, active: true },
    ],
  });
});

test.each([issued('k1'), revoked('k1')])('$type before TeamAdded breaks the stream', (event) => {
  expect(() => evolveTeam(undefined, event)).toThrow(InvariantViolation);
});

// A second TeamAdded once began the team anew: its keys were gone without a trace.
test('a second TeamAdded breaks the stream', () => {
  expect(() => fold([added, issued('k1'), added])).toThrow(InvariantViolation);
});

test.each([added, issued('k1'), revoked('k1')])('$type is read back as it was stored', (event) => {
  expect(decodeTeamEvent(JSON.parse(JSON.stringify(event)))).toEqual(event);
});

test('every event type has a sample above', () => {
  expect([added, issued('k1'), revoked('k1')].map(({ type }) => type)).toEqual(Object.keys(teamEventSchemas));
});

test('what no version of ours has written is not read', () => {
  expect(() => decodeTeamEvent({ type: 'KeyLost', data: {} })).toThrow(RangeError);
  expect(() => decodeTeamEvent({ type: 'constructor', data: {} })).toThrow(RangeError);
  expect(() => decodeTeamEvent({ type: 'KeyRevoked', data: {} })).toThrow('keyId');
  expect(() =>
    decodeTeamEvent({ ...issued('k1'), data: { ...issued('k1').data, scopes: ['root'] } }),
  ).toThrow();
});

test.each(['a', 'shop', 'shop-2', `a${'b'.repeat(62)}`])('%s is a name of a team', (name) => {
  expect(teamNameSchema.safeParse(name).success).toBe(true);
  expect(teamStream(name)).toBe(`team-${name}`);
});

test.each(['', '2shop', '-shop', 'Shop', 'shop_2', 'shop\n', 'büro', `a${'b'.repeat(63)}`])(
  '%j is no name of a team',
  (name) => {
    expect(teamNameSchema.safeParse(name).success).toBe(false);
  },
);
