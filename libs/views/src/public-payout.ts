/** A payout as its team sees it. Everything is named one by one, so that nothing gets out by being new. */
import {
  statusOfPayoutPhase,
  type Payout,
  type PayoutDestination,
  type PayoutEvent,
  type PayoutEventOf,
  type PayoutEventType,
  type PayoutPhase,
  type PayoutStatus,
} from '@tollgate/payment-domain';
import { given } from '@tollgate/service-kit';
import type { PayoutView } from './payout-view.ts';
import type { PublicEventData } from './public-event.ts';
import {
  toIso,
  toPublicReviews,
  toPublicErrors,
  toPublicEvidence,
  type PublicReview,
  type PublicError,
} from './public-values.ts';

/** Amounts are integers in minor units; instants are ISO 8601 in UTC. */
export interface PublicPayout {
  token: string;
  status: PayoutStatus;
  phase: PayoutPhase;
  amount: number;
  currency: string;
  orderNumber: string;
  destination: PublicDestination;
  callbackUrl?: string;
  /** Of the card that was paid to. */
  sanitizedMask?: string;
  declineReason?: string;
  reviews: PublicReview[];
  /** Why the payout failed; empty otherwise. */
  errors: PublicError[];
  createdAt: string;
  updatedAt: string;
  revision: number;
}

/** Where the money goes; tells people which card or account it was, and pays to none. */
export type PublicDestination =
  | { kind: 'card'; sanitizedMask: string }
  | { kind: 'recurring'; recurringToken: string }
  | { kind: 'bankAccount'; bankName: string; accountEnding: string };

export function toPublicPayout(view: PayoutView): PublicPayout {
  const { payout } = view;
  return {
    token: view.token,
    status: statusOfPayoutPhase(payout.phase),
    phase: payout.phase,
    ...toPublicTerms(payout.terms),
    ...given({ sanitizedMask: maskOf(payout.terms.destination), declineReason: payout.declineReason }),
    reviews: toPublicReviews(view, payout),
    errors: payout.phase === 'failed' ? toPublicErrors(payout.errors) : [],
    createdAt: toIso(view.createdAt),
    updatedAt: toIso(view.updatedAt),
    revision: view.revision,
  };
}

const maskOf = (destination: PayoutDestination): string | undefined =>
  destination.kind === 'card' ? destination.sanitizedMask : undefined;

const toPublicTerms = ({ amount, currency, orderNumber, destination, callbackUrl }: Payout['terms']) => ({
  amount,
  currency,
  orderNumber,
  destination: toPublicDestination(destination),
  ...given({ callbackUrl }),
});

function toPublicDestination(destination: PayoutDestination): PublicDestination {
  const { kind } = destination;
  switch (kind) {
    case 'card':
      return { kind, sanitizedMask: destination.sanitizedMask };
    case 'recurring':
      return { kind, recurringToken: destination.recurringToken };
    case 'bankAccount':
      return { kind, bankName: destination.bankName, accountEnding: destination.accountEnding };
  }
}

/** A payout among payments, told apart by `operationType` as in the specification. */
export type ListedPayout = PublicPayout & { operationType: 'payout' };

export const toListedPayout = (view: PayoutView): ListedPayout => ({
  ...toPublicPayout(view),
  operationType: 'payout',
});

type Publishers = { [Type in PayoutEventType]: (data: PayoutEventOf<Type>['data']) => PublicEventData };

const reasonOf = ({ reason }: { reason: string }) => ({ reason });

const publishers: Publishers = {
  PayoutRequested: ({ terms, call }) => ({
    ...toPublicTerms(terms),
    call: { providerOrderNumber: call.providerOrderNumber, sendBy: toIso(call.sendBy) },
  }),
  PayoutAccepted: ({ evidence }) => ({ evidence }),
  PayoutRefused: ({ errors }) => ({ errors: toPublicErrors(errors) }),
  PayoutNotSent: reasonOf,
  PayoutUnresolved: reasonOf,
  PayoutApproved: () => ({}),
  PayoutDeclined: ({ declineReason }) => given({ declineReason }),
  PayoutFailed: reasonOf,
  FinalStatusRevised: ({ from, to, declineReason }) => ({ from, to, ...given({ declineReason }) }),
  ReviewOpened: ({ code, evidence }) => ({ code, evidence: toPublicEvidence(evidence) }),
  ReviewResolved: ({ code, resolution, reason, number }) => ({
    code,
    ...given({ number }),
    resolution,
    reason,
  }),
};

/** An event's data without the fingerprint, tokens of the service and the account. */
export function toPublicPayoutEventData(event: PayoutEvent): PublicEventData {
  const publish = publishers[event.type] as (data: PayoutEvent['data']) => PublicEventData;
  return publish(event.data);
}
