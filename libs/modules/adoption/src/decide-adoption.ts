/** Adopts payments that were made before Tollgate. No call is made for them. */
import type { EventStore, Position } from '@tollgate/event-store';
import {
  type Decision,
  type Environment,
  type ObservedPayment,
  type PaymentAggregate as AggregateAt,
  type PaymentEvent,
  type PaymentEventOf,
  type PaymentState,
  type Repository,
  createRepository,
  cut,
  declineReasonOf,
  events,
  foldOfPayments,
  isPartOf,
  isRefundedByWord,
  maskOf,
  paymentEventSchemas,
  refundedAmountOf,
  refuse,
  statusOf,
} from '@tollgate/core';
import { type Clock, type Ids, omitUndefined } from '@tollgate/service-kit';

/** An operator assigns a payment to a team. */
export interface AdoptPayment {
  type: 'AdoptPayment';
  environment: Environment;
  team: string;
  wallet: string;
  /** True if its money may be paid out. */
  isPayable: boolean;
  /** The account that made it, and receives its inquiries from now on. */
  account: string;
  /** The provider's current record. */
  observed: ObservedPayment;
  product?: string;
  /** Destination of the team's webhooks about it; absent: none are sent. */
  callbackUrl?: string;
  /** Milliseconds since the Unix epoch. */
  adoptedAt: number;
}

export type AdoptionRefusal =
  | { code: 'adopted_by_another_team'; team: string }
  /** The provider's record is not a valid payment; `parameter` is the field. */
  | { code: 'payment_not_readable'; parameter: string };

// The replay check comes first: a payment that the team already has is unchanged, unless it becomes payable.
export function adoptPayment(
  state: PaymentState,
  command: AdoptPayment,
): Decision<PaymentEvent, AdoptionRefusal> {
  if (state !== undefined && state.team !== command.team)
    return refuse({ code: 'adopted_by_another_team', team: state.team });
  if (state !== undefined)
    return command.isPayable && state.notPayable === true
      ? events({ type: 'AdoptionDeclaredPayable', data: {} })
      : events();
  const data = adoptedFrom(command);
  const sums = ['authorizedAmount', 'refundedAmount'] as const;
  const { observed } = command;
  const wrongSum = isRefundedByWord(observed)
    ? 'refundedAmount'
    : sums.find((sum) => !isPartOf(observed[sum] ?? 0, observed.amount));
  const { success, error } = paymentEventSchemas.PaymentAdopted.safeParse(data);
  const parameter = success ? wrongSum : String(error.issues[0]?.path.at(-1));
  if (parameter !== undefined) return refuse({ code: 'payment_not_readable', parameter });
  return events({ type: 'PaymentAdopted', data } as PaymentEventOf<'PaymentAdopted'>);
}

/** The event's data, as far as the provider's record is valid. */
function adoptedFrom({ observed, product = '', adoptedAt, ...command }: AdoptPayment) {
  const { environment, team, wallet, isPayable, account, callbackUrl } = command;
  const { serviceToken, amount, currency, orderNumber, processingUrl, createdAt, recurringToken } = observed;
  const refundedAmount = refundedAmountOf(observed) ?? 0;
  const status = statusOf(observed);
  const { authorizedAmount: held = 0 } = observed;
  const authorizedAmount = status === 'pending' ? held : 0;
  return {
    environment,
    team,
    wallet,
    ...omitUndefined({ payable: isPayable ? (true as const) : undefined }),
    account,
    serviceToken,
    status,
    authorizedAmount,
    refundedAmount,
    terms: {
      kind: 'hosted',
      product: cut(product),
      amount,
      currency,
      needConfirmation: authorizedAmount > 0,
      ...omitUndefined({ orderNumber, callbackUrl }),
      // The request for a token is not shown: one that appears once an open payment is paid is accepted.
      ...(recurringToken !== undefined || status === 'init' || status === 'pending'
        ? { recurring: true }
        : {}),
    },
    ...omitUndefined({ providerOrderNumber: orderNumber, processingUrl, recurringToken }),
    // If the provider's clock runs ahead, the payment is at most as young as its adoption.
    ...omitUndefined({ createdAt: createdAt === undefined ? undefined : Math.min(createdAt, adoptedAt) }),
    ...maskOf(observed),
    ...declineReasonOf(observed),
  };
}

type PaymentAggregate = AggregateAt<Position>;
/** The payments, for adoption. */
export type Adoptions = Repository<PaymentAggregate, PaymentEvent, AdoptPayment, AdoptionRefusal>;

export const createAdoptions = (deps: { store: EventStore; clock: Clock; ids: Ids }): Adoptions =>
  createRepository(deps, {
    ...foldOfPayments,
    decide: (aggregate: PaymentAggregate | undefined, command: AdoptPayment) =>
      adoptPayment(aggregate?.payment, command),
  });
