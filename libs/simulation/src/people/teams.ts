/**
 * The teams of the simulated world, the rules for their money that operators change (wallets, limits, and the amount above which
 * payouts need approval), and the team directory of every process.
 */
import { type MoneyLimit, type Wallet, limitedOperations, walletNameOf } from '@tollgate/core';
import { omitUndefined } from '@tollgate/service-kit';
import { type Caller, type TeamDirectory, everywhere } from '@tollgate/teams';
import type { Random } from '../world/random.ts';

export type Operation = MoneyLimit['operation'];

/** Rules of one team. @unit minor units of its only currency */
export interface MoneyRules {
  wallet: Wallet;
  /** Payouts above this amount need approval. */
  approvalAbove: number | undefined;
  limits: readonly MoneyLimit[];
}

const noRules: MoneyRules = { wallet: { kind: 'own' }, approvalAbove: undefined, limits: [] };

const perCall: Record<Operation, number> = { payment: 1_500, refund: 500, payout: 150 };
const perDay: Record<Operation, readonly number[]> = {
  payment: [1_500, 4_000],
  refund: [400, 1_200],
  payout: [100, 300],
};

/** Maximum time from reading the rules to announcing a call by them, including every pause. @unit milliseconds */
export const rulesHoldMs = 180_000;

export type Rules = ReturnType<typeof createRules>;

/** Three of ten seeds start without any rules. */
export function createRules(random: Random, now: () => number) {
  const draw = (own: Random): MoneyRules => ({
    wallet: own.chance(0.5) ? { kind: 'shared', name: 'both' } : { kind: 'own' },
    approvalAbove: own.chance(0.6) ? own.pick([0, 50, 100]) : undefined,
    limits: limitedOperations
      .filter(() => own.chance(0.4))
      .map((operation) => ({
        operation,
        environment: 'sandbox',
        currency: 'EUR',
        perCall: own.chance(0.3) ? perCall[operation] : null,
        perDay: own.pick(perDay[operation]),
      })),
  });
  const isBare = random.chance(0.3);
  /** By team, latest first. */
  const history = new Map<string, { until: number; rules: MoneyRules }[]>();
  for (const team of teamNames)
    history.set(team, [{ until: Infinity, rules: isBare ? noRules : draw(random.fork(team)) }]);
  const historyOf = (team: string) => history.get(team) ?? [];
  const of = (team: string): MoneyRules => historyOf(team)[0]?.rules ?? noRules;
  return {
    of,
    walletOf: (team: string): string => walletNameOf({ team, wallet: of(team).wallet }),
    /** Rules in effect recently, by which a decision may still be made. */
    lately: (team: string): readonly MoneyRules[] =>
      historyOf(team)
        .filter(({ until }) => until > now() - rulesHoldMs)
        .map(({ rules }) => rules),
    /** An operator changes a wallet, the limits or the approvals of a team. */
    change: (team: TeamName, by: Random): string => {
      const part = by.pick(['wallet', 'limits', 'approvalAbove'] as const);
      const rules = { ...of(team), [part]: draw(by)[part] };
      for (const each of historyOf(team)) each.until = Math.min(each.until, now());
      historyOf(team).unshift({ until: Infinity, rules });
      return `${part} of ${team} is ${JSON.stringify(rules[part])}`;
    },
  };
}

export const teamNames = ['shop', 'rival'] as const;
export type TeamName = (typeof teamNames)[number];

/** The merchant accounts of all teams. */
export const accounts = ['main', 'other'] as const;

export const endpointUrlOf = (team: TeamName): string => `https://${team}.sim/endpoint`;
export const webhookUrlOf = (team: TeamName): string => `https://${team}.sim/webhooks`;

/** The people who resolve reviews. */
export const persons = ['ada', 'bob'] as const;

/** The second key of each team, which approves payouts. */
export const approver = 'approver';
/** Holders of their own key; without a holder, the team's first key is used. */
export type Holder = (typeof persons)[number] | typeof approver;

const callerOf = (team: string, { wallet, approvalAbove, limits }: MoneyRules): Caller => ({
  team,
  keyId: `key-of-${team}`,
  environment: 'sandbox',
  scopes: new Set(['payments', 'refunds', 'payouts', 'approvals', 'cards', 'stored-cards', 'read', 'admin']),
  allowedOrigins: { callback: [`https://${team}.sim`], redirect: undefined },
  wallet,
  ...omitUndefined({ approvalAbove: approvalAbove === undefined ? undefined : { EUR: approvalAbove } }),
  limits,
});

/** A person with a role in every team. */
const asPerson = (person: string, role: 'operator' | 'admin') => ({
  keyId: `person:${person}`,
  operator: { person, source: 'oidc' as const, grants: everywhere(role) },
});

/** The operator who pauses accounts and transfers money. */
const operator: Caller = {
  ...callerOf('', noRules),
  ...asPerson('ada', 'admin'),
  scopes: new Set(['self'] as const),
};

/** @param authorization the team, or `operator`, and possibly who acts for the team */
function callerWith(authorization: string, rules: Rules): Caller {
  const [team = '', holder] = authorization.split(' ');
  if (team === 'operator') return operator;
  const caller = callerOf(team, rules.of(team));
  if (holder === approver) return { ...caller, keyId: `second-key-of-${team}` };
  return holder === undefined ? caller : { ...caller, ...asPerson(holder, 'operator') };
}

export const createSimulatedDirectory = (rules: Rules): TeamDirectory => ({
  start: () => Promise.resolve(),
  stop: () => Promise.resolve(),
  authenticate: (authorization = '') => ({ kind: 'caller', caller: callerWith(authorization, rules) }),
  catchUp: () => Promise.resolve(),
  noteRefusal: () => undefined,
  credentialsOfPeople: () => [],
  names: () => teamNames,
  find: () => undefined,
  callbackOriginsOf: (team) => [`https://${team}.sim`],
  webhookSecretVersionsOf: () => [''],
  health: () => ({ unsignedEvents: 0, suspectStreams: [] }),
});
