/** The teams of the simulated world, and the directory that every process has of them. */
import type { Caller, TeamDirectory } from '@tollgate/teams';

export const teamNames = ['shop', 'rival'] as const;
export type TeamName = (typeof teamNames)[number];

export const webhookUrlOf = (team: TeamName): string => `https://${team}.sim/webhooks`;

const callerOf = (team: string): Caller => ({
  ...{ team, keyId: `key-of-${team}`, environment: 'sandbox' },
  scopes: new Set(['payments', 'refunds', 'payouts', 'cards', 'read', 'admin']),
  allowedOrigins: { callback: [`https://${team}.sim`], redirect: undefined },
  wallet: { kind: 'own' },
});

/** Whoever closes accounts. */
const operator: Caller = {
  ...callerOf(''),
  ...{ keyId: 'person', scopes: new Set(['operators:accounts'] as const) },
  operator: { person: 'ada', source: 'oidc', role: 'operator' },
};

export const simulatedDirectory: TeamDirectory = {
  start: () => Promise.resolve(),
  stop: () => Promise.resolve(),
  authenticate: (authorization) => {
    if (authorization === 'Bearer operator') return { kind: 'caller', caller: operator };
    const team = teamNames.find((name) => authorization === `Bearer ${name}`);
    return team === undefined
      ? { kind: 'refused', code: 'incorrect_private_key' }
      : { kind: 'caller', caller: callerOf(team) };
  },
  noteRefusal: () => undefined,
  names: () => teamNames,
  find: () => undefined,
  callbackOriginsOf: (team) => [`https://${team}.sim`],
  webhookSecretVersionsOf: () => [''],
  health: () => ({ unsignedEvents: 0, suspectStreams: [] }),
  teamsSharing: () => [],
};
