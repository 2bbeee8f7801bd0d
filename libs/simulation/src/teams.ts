/** The teams of the simulated world, and the directory that every process has of them. */
import type { Caller, TeamDirectory } from '@tollgate/teams';

export const teamNames = ['shop', 'rival'] as const;
export type TeamName = (typeof teamNames)[number];

/** The merchant accounts of all. */
export const accounts = ['main', 'other'] as const;

export const webhookUrlOf = (team: TeamName): string => `https://${team}.sim/webhooks`;

/** The people who look after reviews. */
export const persons = ['ada', 'bob'] as const;
export type Person = (typeof persons)[number];

/** What a team's key, or a person in the name of the team, sends. */
export const bearerOf = (team: string, person?: Person): string =>
  person === undefined ? `Bearer ${team}` : `Bearer ${team} ${person}`;

const callerOf = (team: string): Caller => ({
  ...{ team, keyId: `key-of-${team}`, environment: 'sandbox' },
  scopes: new Set(['payments', 'refunds', 'payouts', 'cards', 'read', 'admin']),
  allowedOrigins: { callback: [`https://${team}.sim`], redirect: undefined },
  wallet: { kind: 'own' },
});

const personOf = (team: string, person: Person): Caller => ({
  ...{ ...callerOf(team), keyId: `person:${person}` },
  operator: { person, source: 'oidc', role: 'operator' },
});

/** The operator who closes accounts. */
const operator: Caller = {
  ...callerOf(''),
  ...{ keyId: 'person', scopes: new Set(['operators:accounts', 'operators:act'] as const) },
  operator: { person: 'ada', source: 'oidc', role: 'operator' },
};

export const simulatedDirectory: TeamDirectory = {
  start: () => Promise.resolve(),
  stop: () => Promise.resolve(),
  authenticate: (authorization) => {
    if (authorization === 'Bearer operator') return { kind: 'caller', caller: operator };
    for (const team of teamNames) {
      if (authorization === bearerOf(team)) return { kind: 'caller', caller: callerOf(team) };
      for (const person of persons)
        if (authorization === bearerOf(team, person))
          return { kind: 'caller', caller: personOf(team, person) };
    }
    return { kind: 'refused', code: 'incorrect_private_key' };
  },
  catchUp: () => Promise.resolve(),
  noteRefusal: () => undefined,
  names: () => teamNames,
  find: () => undefined,
  callbackOriginsOf: (team) => [`https://${team}.sim`],
  webhookSecretVersionsOf: () => [''],
  health: () => ({ unsignedEvents: 0, suspectStreams: [] }),
  teamsSharing: () => [],
};
