/** Classifies one row of the provider's list: ours, foreign, or adopted. */
import {
  type ComparablePayment,
  deriveAdoptedToken,
  deriveRecurringAlias,
  tokenInOrderNumber,
} from '@tollgate/core';
import { omitUndefined } from '@tollgate/service-kit';
import type { Adopting, AdoptionOrder } from './adopt-payments.ts';
import { adoptPayment, type AdoptPayment, type AdoptionRefusal } from './decide-adoption.ts';
import { deriveUnmatchedToken, resolveAsKnown } from '@tollgate/books';

export const adoptionOutcomes = [
  'adopted',
  'adopted_before',
  /** Made by a gateway: this one, or another one under the same account. */
  'made_by_gateway',
  'made_by_another_gateway',
  'not_matching',
  'adopted_by_another_team',
  'payment_not_readable',
  /** Listed, but not found when retrieved. */
  'payment_not_found',
] as const;
export type AdoptionOutcome = (typeof adoptionOutcomes)[number];

export interface AdoptedRow {
  outcome: AdoptionOutcome;
  found: ComparablePayment;
  /** Our token, if adopted. */
  token?: string;
  /** Our alias of the provider's recurring token. */
  recurringToken?: string;
  /** Its team, if another one. */
  team?: string;
  /** The unreadable field. */
  parameter?: string;
}

export async function adoptRow(adopting: Adopting, listed: ComparablePayment): Promise<AdoptedRow> {
  const row = await judgeRow(adopting, listed);
  const isAdopted = row.outcome === 'adopted' || row.outcome === 'adopted_before';
  if (!isAdopted || adopting.order.isDryRun) return row;
  const { environment, account } = adopting.order;
  const { serviceToken } = listed.observed;
  // A reconciliation may have found it before.
  const unmatched = deriveUnmatchedToken({ environment, account, operation: 'payment', serviceToken });
  await resolveAsKnown(adopting.unmatched, unmatched, adopting.cause);
  return row;
}

async function judgeRow(adopting: Adopting, listed: ComparablePayment): Promise<AdoptedRow> {
  const { order, installation, adoptions } = adopting;
  const { serviceToken } = listed.observed;
  const as = (outcome: AdoptionOutcome): AdoptedRow => ({ outcome, found: listed });
  if (!order.matches(listed)) return as('not_matching');
  const token = deriveAdoptedToken({ installation, ...order }, order.account, serviceToken);
  const known = await adoptions.load(token);
  if (known !== undefined) {
    const { team, recurringToken } = known.payment;
    if (team !== order.team) return { ...as('adopted_by_another_team'), team };
    if (!order.isDryRun && known.payment.notPayable === true) await declarePayable(adopting, token, listed);
    return { ...as('adopted_before'), token, ...omitUndefined({ recurringToken }) };
  }
  const maker = await makerOf(adopting, listed);
  if (maker !== undefined) return as(maker);
  // A dry run uses the list alone.
  const found = order.isDryRun || !needsRetrieval(listed) ? listed : await retrieve(adopting, listed);
  if (found === undefined) return as('payment_not_found');
  return { ...(await adopt(adopting, token, found)), found };
}

/** A list may omit what a retrieval shows; a recurring token is issued for a paid payment. */
function needsRetrieval({ observed, product, recurringToken }: ComparablePayment): boolean {
  const { orderNumber, createdAt, status } = observed;
  const isPaid = status === 'approved' || status === 'refunded';
  return (
    orderNumber === undefined ||
    createdAt === undefined ||
    product === undefined ||
    (isPaid && recurringToken === undefined)
  );
}

/** With fields that only the list shows; undefined if the payment no longer exists. */
async function retrieve(
  { ask }: Adopting,
  listed: ComparablePayment,
): Promise<ComparablePayment | undefined> {
  const { serviceToken } = listed.observed;
  const retrieved = await ask((provider) => provider.inquirePayment(serviceToken));
  return retrieved && { ...listed, ...retrieved, observed: { ...listed.observed, ...retrieved.observed } };
}

/** A gateway's order numbers and callback URLs begin with one of its tokens. */
const gatewayCallback = /\/callbacks\/(?:sandbox|production)\/(pay_[a-z2-7]{26})\//;

/** The gateway that made a payment; undefined if none did. */
async function makerOf(
  { adoptions, findByServiceToken }: Adopting,
  { observed: { serviceToken, orderNumber }, callbackUrl }: ComparablePayment,
): Promise<'made_by_gateway' | 'made_by_another_gateway' | undefined> {
  const token = tokenInOrderNumber('pay', orderNumber) ?? gatewayCallback.exec(callbackUrl ?? '')?.[1];
  if (token !== undefined)
    return (await adoptions.load(token)) === undefined ? 'made_by_another_gateway' : 'made_by_gateway';
  // Ours have our number: only if none is shown may it be one that we know by its token alone.
  const isKnown = orderNumber === undefined && (await findByServiceToken(serviceToken)) !== undefined;
  return isKnown ? 'made_by_gateway' : undefined;
}

/** Without a day of creation it is not payable: it may have been paid out before. */
const isPayable = ({ payableFrom }: AdoptionOrder, createdAt: number | undefined): boolean =>
  payableFrom !== undefined && createdAt !== undefined && createdAt >= Date.parse(payableFrom);

/** Adopted before, by an order without a day or with a later one. */
async function declarePayable(
  adopting: Adopting,
  token: string,
  { observed }: ComparablePayment,
): Promise<void> {
  const { order, adoptions, cause, clock } = adopting;
  if (!isPayable(order, observed.createdAt)) return;
  const { environment, team, wallet, account } = order;
  const command: AdoptPayment = {
    type: 'AdoptPayment',
    environment,
    team,
    wallet,
    isPayable: true,
    account,
    adoptedAt: clock.now(),
    observed,
  };
  await adoptions.execute(token, command, cause);
}

async function adopt(
  { order, adoptions, recurringTokens, clock, cause }: Adopting,
  token: string,
  { observed, product, recurringToken: serviceRecurringToken }: ComparablePayment,
): Promise<Omit<AdoptedRow, 'found'>> {
  const { environment, team, wallet, account, callbackUrl, isDryRun } = order;
  // Includes the team: if two teams adopt the same payment concurrently, neither keeps the alias of the other.
  const recurringToken = serviceRecurringToken && deriveRecurringAlias(environment, `${token} ${team}`);
  const command: AdoptPayment = {
    type: 'AdoptPayment',
    environment,
    team,
    wallet,
    isPayable: isPayable(order, observed.createdAt),
    account,
    adoptedAt: clock.now(),
    observed: { ...observed, ...omitUndefined({ recurringToken }) },
    ...omitUndefined({ product, callbackUrl }),
  };
  const decision = adoptPayment(undefined, command);
  if (decision.kind === 'refused') return toRow(decision.refusal);
  const adopted = { outcome: 'adopted', token, ...omitUndefined({ recurringToken }) } as const;
  if (isDryRun) return adopted;
  // First, so that no alias is dangling.
  if (serviceRecurringToken !== undefined && recurringToken !== undefined) {
    const owner = { environment, team, account, paymentToken: token };
    await recurringTokens.keep(recurringToken, { ...owner, serviceRecurringToken }, cause);
  }
  const executed = await adoptions.execute(token, command, cause);
  if (executed.kind === 'refused') return toRow(executed.refusal);
  return executed.kind === 'done' && executed.events.length > 0
    ? adopted
    : { ...adopted, outcome: 'adopted_before' };
}

const toRow = ({ code, ...evidence }: AdoptionRefusal): Omit<AdoptedRow, 'found'> => ({
  outcome: code,
  ...evidence,
});
