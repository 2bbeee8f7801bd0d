/** Adopts payments that were made before Tollgate: no call is made for it. */
import { events, refuse, type Decision } from '../decision.ts';
import type { Environment } from '../values.ts';
import { cut, omitUndefined } from '../values.ts';
import { declineReasonOf, isPartOf, maskOf, refundedAmountOf, statusOf } from './observation.ts';
import { isRefundedByWord } from '../discrepancy.ts';
import type { ObservedPayment } from './payment-commands.ts';
import { paymentEventSchemas, type PaymentEvent, type PaymentEventOf } from './payment-events.ts';
import type { PaymentState } from './payment-state.ts';

/** An operator takes a payment under a team. */
export interface AdoptPayment {
  type: 'AdoptPayment';
  environment: Environment;
  team: string;
  wallet: string;
  /** True if its money may be paid out. */
  isPayable: boolean;
  /** The account that made it, and is asked about it from now on. */
  account: string;
  /** As the service shows it now. */
  observed: ObservedPayment;
  product?: string;
  /** Where the team's webhooks about it go from now on; absent: none are sent. */
  callbackUrl?: string;
  /** Milliseconds since the Unix epoch. */
  adoptedAt: number;
}

/** Why a payment is not adopted. */
export type AdoptionRefusal =
  | { code: 'adopted_by_another_team'; team: string }
  /** The service shows of it what no payment can be; `parameter` is the field. */
  | { code: 'payment_not_readable'; parameter: string };

// The replay check comes first: a payment that the team has is left as it is, unless it becomes payable.
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

/** What the event would hold, as far as what the service shows can be held. */
function adoptedFrom({ observed, product = '', adoptedAt, ...command }: AdoptPayment) {
  const { environment, team, wallet, isPayable, account, callbackUrl } = command;
  const { serviceToken, amount, currency, orderNumber, processingUrl, createdAt, recurringToken } = observed;
  const refundedAmount = refundedAmountOf(observed) ?? 0;
  const shown = statusOf(observed);
  const status = shown === 'approved' && refundedAmount === amount ? 'refunded' : shown;
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
      // Whether one was asked for is not shown: one that shows once an open payment is paid is taken as well.
      ...(recurringToken !== undefined || status === 'init' || status === 'pending'
        ? { recurring: true }
        : {}),
    },
    ...omitUndefined({ providerOrderNumber: orderNumber, processingUrl, recurringToken }),
    // A clock of the service that runs ahead makes nothing that is younger than its adoption.
    ...omitUndefined({ createdAt: createdAt === undefined ? undefined : Math.min(createdAt, adoptedAt) }),
    ...maskOf(observed),
    ...declineReasonOf(observed),
  };
}
