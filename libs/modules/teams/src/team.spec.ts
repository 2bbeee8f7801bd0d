import { describe, expect, test } from 'vitest';
import { InvariantViolation } from '@tollgate/core';
import { originPurposes, originsMax, type OriginPurpose } from '@tollgate/service-kit';
import history from '../histories/v1/team.json' with { type: 'json' };
import {
  activeKeysMax,
  decideTeam,
  decodeTeamEvent,
  evolveTeam,
  requestsPerSecondSchema,
  teamEventSchemas,
  teamNameSchema,
  teamStream,
  type AllowOrigins,
  type IssueKey,
  type TeamCommand,
  type TeamEvent,
  type TeamState,
} from './team.ts';
import { networksMax } from './networks.ts';

const added: TeamEvent = { type: 'TeamAdded', data: { name: 'shop' } };

type Terms = Partial<Omit<IssueKey, 'networks'>> & { networks?: string[] };

const issueKey = (keyId: string, changes: Terms = {}): IssueKey & Terms => ({
  type: 'IssueKey',
  keyId,
  environment: 'sandbox',
  scopes: ['payments', 'read'],
  secretHash: `hash of ${keyId}`,
  at: 1_000,
  ...changes,
});

const issued = (keyId: string, changes: Terms = {}): TeamEvent => {
  const { type: _, at: _at, scopes, ...rest } = issueKey(keyId, changes);
  return { type: 'KeyIssued', data: { ...rest, scopes: [...scopes] } };
};

const revoked = (keyId: string): TeamEvent => ({ type: 'KeyRevoked', data: { keyId } });

const allowOrigins = (purpose: OriginPurpose, ...origins: string[]): AllowOrigins => ({
  type: 'AllowOrigins',
  purpose,
  origins,
});

const allowed = (purpose: OriginPurpose, ...origins: string[]): TeamEvent => ({
  type: 'OriginsAllowed',
  data: { purpose, origins },
});

const state = (history: readonly TeamEvent[]) => history.reduce<TeamState>(evolveTeam, undefined);
const fold = (history: readonly TeamEvent[]) => state(history)!;
const decided = (history: readonly TeamEvent[], command: TeamCommand) => decideTeam(state(history), command);
const events = (...expected: TeamEvent[]) => ({ kind: 'events', events: expected });
const refused = (code: string) => ({ kind: 'refused', refusal: { code } });

const revokeKey = (keyId: string): TeamCommand => ({ type: 'RevokeKey', keyId });
const limit = { requestsPerSecondMax: 50 };
const production = { environment: 'production' } as const;
const approving = (keyId: string) => issueKey(keyId, { scopes: ['approvals'] });
const twoKeys = [added, issued('k1'), issued('k2')];
const twoApproving = [
  ...[...twoKeys, issued('k3', { scopes: ['approvals'] })],
  issued('k4', { scopes: ['approvals', 'payouts'] }),
];

test.each<[string, TeamEvent[], TeamCommand, unknown]>([
  ['a team is added', [], { type: 'AddTeam', name: 'shop' }, events(added)],
  ['a team is added once', [added], { type: 'AddTeam', name: 'shop' }, refused('team_exists')],
  ['a key is of a team that exists', [], issueKey('k1'), refused('team_not_found')],
  ['a revocation is of a team that exists', [], revokeKey('k1'), refused('team_not_found')],
  ['a key has environment, scopes and hash', [added], issueKey('k1'), events(issued('k1'))],
  ['a key may have its own limit', [added], issueKey('k1', limit), events(issued('k1', limit))],
  ['a repeat needs the same limit', [added, issued('k1', limit)], issueKey('k1'), refused('key_exists')],
  ['with the same limit it is one', [added, issued('k1', limit)], issueKey('k1', limit), events()],
  ['a repeat writes nothing', [added, issued('k1')], issueKey('k1'), events()],
  [
    'nor does one with its scopes in another order',
    [added, issued('k1')],
    issueKey('k1', { scopes: ['read', 'payments'] }),
    events(),
  ],
  ['a revoked key is not issued again', [...twoKeys, revoked('k1')], issueKey('k1'), refused('key_exists')],
  ['one key may replace another', [added, issued('k1')], issueKey('k2'), events(issued('k2'))],
  ['three are not active', twoKeys, issueKey('k3'), refused('too_many_active_keys')],
  ['a repeat succeeds even then', twoKeys, issueKey('k2'), events()],
  ['a revoked key makes room', [...twoKeys, revoked('k1')], issueKey('k3'), events(issued('k3'))],
  [
    'keys of the other environment do not count',
    twoKeys,
    issueKey('k3', production),
    events(issued('k3', production)),
  ],
  [
    'keys that approve payouts count separately',
    twoKeys,
    approving('k3'),
    events(issued('k3', { scopes: ['approvals'] })),
  ],
  ['two of them may be active', twoApproving, approving('k5'), refused('too_many_active_keys')],
  ['a key is revoked', [added, issued('k1')], revokeKey('k1'), events(revoked('k1'))],
  ['and again without effect', [added, issued('k1'), revoked('k1')], revokeKey('k1'), events()],
  ['only issued keys are revoked', [added, issued('k1')], revokeKey('k2'), refused('key_not_found')],
])('%s', (_, history, command, expected) => {
  expect(decided(history, command)).toEqual(expected);
});

test('the limit of a key is in its record', () => {
  expect(fold([added, issued('k1', limit)]).keys[0]).toMatchObject(limit);
  expect(activeKeysMax).toBe(2);
});

test.each([0, -1, 1.5, 100_001, Infinity])('%d is not a limit of a key', (count) => {
  expect(requestsPerSecondSchema.safeParse(count).success).toBe(false);
});

// The replay check once compared identifier and hash only: a request for fewer scopes was answered with success.
test.each([
  ['another secret', { secretHash: 'other' }],
  ['another environment', { environment: 'production' }],
  ['fewer scopes', { scopes: ['read'] }],
  ['more scopes', { scopes: ['payments', 'read', 'admin'] }],
  ['other scopes', { scopes: ['payments', 'cards'] }],
] as const)('a key identifier with %s is refused', (_, changes) => {
  expect(decided([added, issued('k1')], issueKey('k1', changes))).toEqual(refused('key_exists'));
});

describe('a key with an end', () => {
  const ending = issueKey('k1', { expiresAt: 2_000 });

  test('is issued with it, and not with one in the past', () => {
    expect(decided([added], ending)).toEqual(events(issued('k1', { expiresAt: 2_000 })));
    expect(decided([added], { ...ending, at: 2_000 })).toEqual(refused('expiry_in_past'));
  });

  test('is not counted once it has expired', () => {
    const history = [added, issued('k1', { expiresAt: 2_000 }), issued('k2')];
    expect(decided(history, issueKey('k3', { at: 1_999 }))).toEqual(refused('too_many_active_keys'));
    expect(decided(history, issueKey('k3', { at: 2_000 }))).toEqual(events(issued('k3')));
  });
});

describe('a key with networks', () => {
  test('is issued with them in canonical form', () => {
    const networks = ['2001:DB8::/32', '203.0.113.7'];
    const written = issued('k1', { networks: ['2001:db8::/32', '203.0.113.7/32'] });
    expect(decided([added], issueKey('k1', { networks }))).toEqual(events(written));
    expect(decided([added, written], issueKey('k1', { networks }))).toEqual(events());
    expect(decided([added, written], issueKey('k1'))).toEqual(refused('key_exists'));
  });

  test('is refused if one of them is invalid, or there are too many', () => {
    expect(decided([added], issueKey('k1', { networks: ['10.0.0.0/8', 'office'] }))).toEqual({
      kind: 'refused',
      refusal: { code: 'network_invalid', network: 'office' },
    });
    const many = Array.from({ length: networksMax + 1 }, (_, number) => `10.0.0.${number}`);
    expect(decided([added], issueKey('k1', { networks: many }))).toEqual(refused('too_many_networks'));
  });
});

test('a revoked key stays recorded, inactive, and the other stays active', () => {
  expect(fold([added, issued('k1'), issued('k2'), revoked('k1')])).toEqual({
    name: 'shop',
    keys: [
      { ...issued('k1').data, active: false },
      { ...issued('k2').data, active: true },
    ],
    allowedOrigins: {},
    webhookRotations: [],
    money: { wallet: { kind: 'own' }, approvals: [], limits: [] },
  });
});

describe('the origins of a team', () => {
  const shop = 'https://shop.example';

  test('are set for an existing team only', () => {
    expect(decided([], allowOrigins('callback', shop))).toEqual(refused('team_not_found'));
  });

  test.each(originPurposes)('are unknown for a %s until the team sets them', (purpose) => {
    expect(fold([added]).allowedOrigins[purpose]).toBeUndefined();
    expect(fold([added, allowed(purpose)]).allowedOrigins).toEqual({ [purpose]: [] });
  });

  test('are recorded in canonical form, each once', () => {
    const given = allowOrigins('callback', 'HTTPS://Shop.example:443/', 'http://localhost:*', shop);
    expect(decided([added], given)).toEqual(events(allowed('callback', shop, 'http://localhost:*')));
  });

  test('are replaced as a whole, and those of the other purpose stay', () => {
    const before = [added, allowed('callback', shop), allowed('redirect', shop)];
    const other = 'https://other.example';
    expect(decided(before, allowOrigins('callback', other))).toEqual(events(allowed('callback', other)));
    expect(fold([...before, allowed('callback', other)]).allowedOrigins).toEqual({
      callback: [other],
      redirect: [shop],
    });
  });

  test('set again unchanged write nothing, in any order and spelling', () => {
    const before = [added, allowed('redirect', shop, 'https://other.example')];
    const same = allowOrigins('redirect', 'https://OTHER.example', shop);
    expect(decided(before, same)).toEqual(events());
    expect(decided(before, allowOrigins('redirect', shop))).toEqual(events(allowed('redirect', shop)));
    const more = [shop, 'https://other.example', 'https://third.example'];
    expect(decided(before, allowOrigins('redirect', ...more))).toEqual(events(allowed('redirect', ...more)));
  });

  // An empty list forbids every redirect; no list forbids none. Confusing them would allow what a team has forbidden.
  test('may be empty, which is recorded once', () => {
    expect(decided([added], allowOrigins('redirect'))).toEqual(events(allowed('redirect')));
    expect(decided([added, allowed('redirect')], allowOrigins('redirect'))).toEqual(events());
    expect(decided([added, allowed('redirect', shop)], allowOrigins('redirect'))).toEqual(
      events(allowed('redirect')),
    );
  });

  test('are refused by name if one of them is not allowed, and none is set', () => {
    expect(decided([added], allowOrigins('callback', shop, 'http://shop.example'))).toEqual({
      kind: 'refused',
      refusal: { code: 'origin_invalid', origin: 'http://shop.example' },
    });
  });

  test(`are ${originsMax} at most, with duplicates counted once`, () => {
    const many = Array.from({ length: originsMax }, (_, index) => `https://shop-${index}.example`);
    expect(decided([added], allowOrigins('callback', ...many, ...many)).kind).toBe('events');
    expect(decided([added], allowOrigins('callback', ...many, shop))).toEqual(refused('too_many_origins'));
  });
});

test.each([issued('k1'), revoked('k1'), allowed('callback')])(
  '$type before TeamAdded breaks the stream',
  (event) => {
    expect(() => evolveTeam(undefined, event)).toThrow(InvariantViolation);
  },
);

// A second TeamAdded once reset the team: its keys were gone without a trace.
test('a second TeamAdded breaks the stream', () => {
  expect(() => fold([added, issued('k1'), added])).toThrow(InvariantViolation);
});

const rotated: TeamEvent = {
  type: 'WebhookSecretRotated',
  data: { environment: 'sandbox', formerUntil: 2_000 },
};

const limited: TeamEvent = {
  type: 'MoneyLimited',
  data: {
    environment: 'sandbox',
    operation: 'refund',
    currency: 'EUR',
    keyId: 'k1',
    perCall: 1,
    perDay: null,
  },
};
const approvalRequired: TeamEvent = {
  type: 'ApprovalRequired',
  data: { environment: 'production', currency: 'EUR', above: 100 },
};
const shared: TeamEvent = { type: 'WalletChosen', data: { wallet: { kind: 'shared', name: 'group' } } };

const samples = [
  ...[added, issued('k1'), revoked('k1'), allowed('callback', 'https://shop.example')],
  rotated,
  shared,
  approvalRequired,
  limited,
];

test.each([...samples, issued('k1', { requestsPerSecondMax: 5 })])(
  '$type is read back as it was stored',
  (event) => {
    expect(decodeTeamEvent(JSON.parse(JSON.stringify(event)))).toEqual(event);
  },
);

test('every event type has a sample above', () => {
  expect(samples.map(({ type }) => type)).toEqual(Object.keys(teamEventSchemas));
});

test('data that none of our versions has written is not read', () => {
  expect(() => decodeTeamEvent({ type: 'KeyLost', data: {} })).toThrow(RangeError);
  expect(() => decodeTeamEvent({ type: 'constructor', data: {} })).toThrow(RangeError);
  expect(() => decodeTeamEvent({ type: 'KeyRevoked', data: {} })).toThrow('keyId');
  expect(() =>
    decodeTeamEvent({ ...issued('k1'), data: { ...issued('k1').data, scopes: ['root'] } }),
  ).toThrow();
});

test.each(['a', 'shop', 'shop-2', `a${'b'.repeat(62)}`])('%s is a valid name of a team', (name) => {
  expect(teamNameSchema.safeParse(name).success).toBe(true);
  expect(teamStream(name)).toBe(`team-${name}`);
});

test.each(['', '2shop', '-shop', 'Shop', 'shop_2', 'shop\n', 'büro', `a${'b'.repeat(63)}`])(
  '%j is not a valid name of a team',
  (name) => {
    expect(teamNameSchema.safeParse(name).success).toBe(false);
  },
);

// As stored under schema version 1; such a file is never edited.
test('the history "v1 team" is replayed to its team, and covers every event type', () => {
  const events = history.events.map(decodeTeamEvent);
  expect(events.reduce<TeamState>(evolveTeam, undefined)).toEqual(history.expected);
  const types = new Set(events.map(({ type }) => type));
  expect([...types].sort()).toEqual(Object.keys(teamEventSchemas).sort());
});
