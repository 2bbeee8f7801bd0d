/** Money settings of a team: wallet, approval threshold and limits. */
import { isDeepStrictEqual } from 'node:util';
import {
  environmentSchema,
  type Decision,
  type Environment,
  type MoneyLimit,
  type Wallet,
  limitSchema,
  walletSchema,
} from '@tollgate/core';
import { z } from 'zod';

const ownWallet: Wallet = { kind: 'own' };

interface ChooseWallet {
  type: 'ChooseWallet';
  wallet: Wallet;
}
/** The threshold above which payouts wait for a second key. */
interface RequireApproval {
  type: 'RequireApproval';
  environment: Environment;
  /** ISO 4217 alphabetic code. */
  currency: string;
  /** Minor units; null: none waits. */
  above: number | null;
}

/** Replaces the previous limit; without a sum, removes it. */
interface LimitMoney extends MoneyLimit {
  type: 'LimitMoney';
}
export type MoneyCommand = ChooseWallet | RequireApproval | LimitMoney;

const approvalSchema = z.object({
  environment: environmentSchema,
  currency: z.string(),
  above: z.int().min(0).nullable(),
});

export const moneyEventSchemas = {
  WalletChosen: z.object({ wallet: walletSchema }),
  ApprovalRequired: approvalSchema,
  MoneyLimited: limitSchema,
} as const;
type MoneyEventType = keyof typeof moneyEventSchemas;
export type MoneyEvent = {
  [Type in MoneyEventType]: { type: Type; data: z.infer<(typeof moneyEventSchemas)[Type]> };
}[MoneyEventType];

interface ApprovalRule {
  environment: Environment;
  currency: string;
  above: number;
}

export interface MoneySettings {
  wallet: Wallet;
  /** At most one per environment and currency. */
  approvals: readonly ApprovalRule[];
  /** At most one per environment, operation, currency and key. */
  limits: readonly MoneyLimit[];
}
export const noMoneySettings: MoneySettings = { wallet: ownWallet, approvals: [], limits: [] };

/** Approval thresholds by currency; undefined if none. */
export function approvalAboveIn(
  { approvals }: MoneySettings,
  environment: Environment,
): Readonly<Record<string, number>> | undefined {
  const own = approvals.filter((rule) => rule.environment === environment);
  return own.length === 0
    ? undefined
    : Object.fromEntries(own.map(({ currency, above }) => [currency, above]));
}

export function decideMoney(settings: MoneySettings, command: MoneyCommand): Decision<MoneyEvent, never> {
  const event = toEvent(command);
  const isKnown = isDeepStrictEqual(evolveMoney(settings, event), settings);
  return { kind: 'events', events: isKnown ? [] : [event] };
}

function toEvent(command: MoneyCommand): MoneyEvent {
  if (command.type === 'ChooseWallet') return { type: 'WalletChosen', data: { wallet: command.wallet } };
  const { type, ...data } = command;
  return type === 'LimitMoney'
    ? { type: 'MoneyLimited', data: data as MoneyLimit }
    : { type: 'ApprovalRequired', data: data as z.infer<typeof approvalSchema> };
}

export function evolveMoney(settings: MoneySettings, event: MoneyEvent): MoneySettings {
  if (event.type === 'WalletChosen') return { ...settings, wallet: event.data.wallet };
  if (event.type === 'MoneyLimited') return { ...settings, limits: limitsAfter(settings, event.data) };
  const { environment, currency, above } = event.data;
  const approvals = settings.approvals.filter((rule) => approvalKeyOf(rule) !== approvalKeyOf(event.data));
  if (above !== null) approvals.push({ environment, currency, above });
  return { ...settings, approvals: approvals.sort((a, b) => (approvalKeyOf(a) < approvalKeyOf(b) ? -1 : 1)) };
}

function limitsAfter({ limits }: MoneySettings, limit: MoneyLimit): MoneyLimit[] {
  const others = limits.filter((each) => limitKeyOf(each) !== limitKeyOf(limit));
  const isLifted = limit.perCall === null && limit.perDay === null;
  return isLifted ? others : [...others, limit].sort((a, b) => (limitKeyOf(a) < limitKeyOf(b) ? -1 : 1));
}

export const limitKeyOf = ({ environment, operation, currency, keyId = '' }: MoneyLimit): string =>
  `${environment} ${operation} ${currency} ${keyId}`;

/** The limits of a key; undefined if none. */
export function limitsOfKey(
  { limits }: MoneySettings,
  { environment, keyId }: { environment: Environment; keyId: string },
): readonly MoneyLimit[] | undefined {
  const own = limits.filter((limit) => limit.environment === environment && (limit.keyId ?? keyId) === keyId);
  return own.length === 0 ? undefined : own;
}

export const approvalKeyOf = ({ environment, currency }: Omit<ApprovalRule, 'above'>): string =>
  `${environment} ${currency}`;
