/** The teams of the simulated world, and the team directory of every process. */
import { omitUndefined } from '@tollgate/service-kit';
import { type Caller, type TeamDirectory, everywhere } from '@tollgate/teams';
import { type MoneyRules, type Rules, noRules } from './money-rules.ts';

export const teamNames = ['shop', 'rival'] as const;
export type TeamName = (typeof teamNames)[number];

/** The merchant accounts of all teams. */
export const accounts = ['main', 'other'] as const;

export const endpointUrlOf = (team: TeamName): string => `https://${team}.sim/endpoint`;
export const webhookUrlOf = (team: TeamName): string => `https://${team}.sim/webhooks`;

/** The people who resolve reviews. */
export const persons = ['ada', 'bob'] as const;
type Person = (typeof persons)[number];

/** The second key of each team, which approves payouts. */
export const approver = 'approver';
/** Holders of a key of their own; without a holder, the team's first key is used. */
export type Holder = Person | typeof approver;

/** The authorization header of a team's key, or of a person acting for the team. */
export const bearerOf = (team: string, holder?: Holder): string =>
  holder === undefined ? `Bearer ${team}` : `Bearer ${team} ${holder}`;

const callerOf = (team: string, { wallet, approvalAbove, limits }: MoneyRules): Caller => ({
  team,
  keyId: `key-of-${team}`,
  environment: 'sandbox',
  scopes: new Set(['payments', 'refunds', 'payouts', 'approvals', 'cards', 'stored-cards', 'read', 'admin']),
  allowedOrigins: { callback: [`https://${team}.sim`], redirect: undefined },
  wallet,
  ...omitUndefined({ approvalAbove: approvalAbove === undefined ? undefined : { EUR: approvalAbove } }),
  limits: limits.map((limit) => ({ ...limit, environment: 'sandbox' as const, currency: 'EUR' })),
});

const personOf = (team: string, person: Person, rules: MoneyRules): Caller => ({
  ...callerOf(team, rules),
  keyId: `person:${person}`,
  operator: { person, source: 'oidc', grants: everywhere('operator') },
});

/** The operator who pauses accounts and transfers money. */
const operator: Caller = {
  ...callerOf('', noRules),
  keyId: 'person',
  scopes: new Set(['self'] as const),
  operator: { person: 'ada', source: 'oidc', grants: everywhere('admin') },
};

export const createSimulatedDirectory = (rules: Rules): TeamDirectory => ({
  start: () => Promise.resolve(),
  stop: () => Promise.resolve(),
  authenticate: (authorization) => {
    const caller = callerWith(authorization ?? '', rules);
    return caller === undefined
      ? { kind: 'refused', code: 'incorrect_private_key' }
      : { kind: 'caller', caller };
  },
  catchUp: () => Promise.resolve(),
  noteRefusal: () => undefined,
  credentialsOfPeople: () => [],
  names: () => teamNames,
  find: () => undefined,
  callbackOriginsOf: (team) => [`https://${team}.sim`],
  webhookSecretVersionsOf: () => [''],
  health: () => ({ unsignedEvents: 0, suspectStreams: [] }),
});

function callerWith(authorization: string, rules: Rules): Caller | undefined {
  if (authorization === 'Bearer operator') return operator;
  for (const team of teamNames) {
    const own = rules.of(team);
    if (authorization === bearerOf(team)) return callerOf(team, own);
    if (authorization === bearerOf(team, approver))
      return { ...callerOf(team, own), keyId: `second-key-of-${team}` };
    for (const person of persons)
      if (authorization === bearerOf(team, person)) return personOf(team, person, own);
  }
  return undefined;
}
