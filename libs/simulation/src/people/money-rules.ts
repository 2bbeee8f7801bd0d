/** The rules for the teams' money: wallets, limits, and the amount above which payouts need approval. Operators change them. */
import { type MoneyLimit, type Wallet, walletNameOf } from '@tollgate/core';
import type { Random } from '../world/random.ts';
import type { TeamName } from './teams.ts';

export type Operation = MoneyLimit['operation'];

/** Rules of one team. @unit minor units of its only currency */
export interface MoneyRules {
  wallet: Wallet;
  /** Payouts above this amount need approval. */
  approvalAbove: number | undefined;
  limits: readonly (Pick<MoneyLimit, 'perCall' | 'perDay'> & { operation: Operation })[];
}

export const noRules: MoneyRules = { wallet: { kind: 'own' }, approvalAbove: undefined, limits: [] };

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
    limits: (['payment', 'refund', 'payout'] as const)
      .filter(() => own.chance(0.4))
      .map((operation) => ({
        operation,
        perCall: own.chance(0.3) ? perCall[operation] : null,
        perDay: own.pick(perDay[operation]),
      })),
  });
  const isBare = random.chance(0.3);
  /** By team, latest first. */
  const history = new Map<string, { until: number; rules: MoneyRules }[]>();
  const historyOf = (team: string) => {
    const drawn = { until: Infinity, rules: isBare ? noRules : draw(random.fork(team)) };
    const own = history.get(team) ?? [drawn];
    history.set(team, own);
    return own;
  };
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
