/**
 * The port to a payment provider, in our own terms. Provider-specific terms are translated behind it, one folder per provider
 * (`payment-service/`); each of them passes the suite in `provider.contract.ts`.
 */
import type {
  AuthorizationOutcome,
  DisputeState,
  RefundOutcome,
  ReportedPayment,
} from './domain/payment/payment-commands.ts';
import type { CallOutcome } from './domain/outbound-call/outbound-call.ts';
import type { ObservedPayout, PayoutOutcome } from './domain/payout/payout-commands.ts';

/**
 * One merchant account at a provider. No operation rejects, even if the provider or the network fails. Each is sent once; its
 * {@link CallOutcome} is what is proven: `refused` and `not-sent` only if no money can have moved. Amounts are in minor
 * units and as the provider gives them: the domain decides whether they are correct.
 */
export interface Provider {
  /** Creates a payment: a hosted page, or a charge of the given source. */
  authorize(request: AuthorizeRequest, maySend: MaySend): Promise<AuthorizationOutcome>;
  /** Captures all authorized money. */
  capture(serviceToken: string, maySend: MaySend): Promise<CallOutcome<{ observed?: ReportedPayment }>>;
  /** Voids all authorized money. */
  void(serviceToken: string, maySend: MaySend): Promise<CallOutcome<{ observed?: ReportedPayment }>>;
  refund(request: { serviceToken: string; amount: number }, maySend: MaySend): Promise<RefundOutcome>;
  payout(request: PayOutRequest, maySend: MaySend): Promise<PayoutOutcome>;
  inquirePayment(serviceToken: string): Promise<InquiryOutcome<FoundPayment>>;
  inquirePayout(serviceToken: string): Promise<InquiryOutcome<ObservedPayout>>;
  /** Everything under an order number, newest first; an empty list is `accepted` only if proven. */
  listPayments(query: { orderNumber: string }): Promise<InquiryOutcome<FoundPayment[]>>;
  listPayouts(query: { orderNumber: string }): Promise<InquiryOutcome<ObservedPayout[]>>;
  /** One page of all payments created there on some days; `accepted` only if proven to be that page. */
  pageOfPayments(query: PageQuery): Promise<InquiryOutcome<Page<ComparablePayment>>>;
  pageOfPayouts(query: PageQuery): Promise<InquiryOutcome<Page<ObservedPayout>>>;
  balance(currency: string): Promise<InquiryOutcome<Balance>>;
  /** The newest disputes: a missing one may still exist. */
  listDisputes(): Promise<InquiryOutcome<DisputeList>>;
  /** Waits for the calls under way, at most one deadline; later calls are `not-sent`. */
  close(): Promise<void>;
}

/**
 * Called when the connection is open and the first byte is about to leave. If false, nothing is sent, and the outcome is
 * `not-sent`: connecting may take longer than the call may wait, and the process may be suspended meanwhile.
 */
export type MaySend = () => boolean;

/** Operations that change nothing at the provider. */
export type Inquirer = Pick<
  Provider,
  | 'inquirePayment'
  | 'inquirePayout'
  | 'listPayments'
  | 'listPayouts'
  | 'pageOfPayments'
  | 'pageOfPayouts'
  | 'balance'
  | 'listDisputes'
>;

/** Newest first. */
interface DisputeList {
  found: FoundDispute[];
  /** Number of unreadable rows. */
  unreadable: number;
}

/** Rows of a page; the last one has fewer. */
export const pageRows = 500;

/** Days of creation, `YYYY-MM-DD` in UTC, both included; pages count from 1, newest first. */
export interface PageQuery {
  from: string;
  to: string;
  page: number;
}

export interface Page<Found> {
  found: Found[];
  /** Total over all pages, if the provider reports it. */
  total?: number;
}

export type InquiryOutcome<Answer> =
  | CallOutcome<{ answer: Answer }>
  /** The provider has nothing under this token. */
  | { kind: 'missing' };

/** Held in memory only, from the request to the call. */
interface Card {
  /** 12 to 19 digits. */
  pan: string;
  /** `MM/YYYY`. */
  expires: string;
}

export interface AuthorizeRequest {
  product: string;
  amount: number;
  /** ISO 4217 alphabetic code. */
  currency: string;
  /** Unique per attempt; finds an attempt whose answer was lost. */
  orderNumber: string;
  callbackUrl: string;
  redirectSuccessUrl?: string;
  redirectFailUrl?: string;
  /** BCP 47 language tag. */
  locale?: string;
  customer?: { email?: string | undefined; ip?: string | undefined };
  /** True if the money is authorized now, and captured or voided later. */
  isCaptureDeferred: boolean;
  /** True if a recurring token is requested. */
  isRecurring: boolean;
  /** @default the client's deadline @unit milliseconds */
  answerWithinMs?: number;
  /** Means of payment; absent: the customer chooses on a hosted page. */
  source?: { card: Card & { holder: string; cvv: string } } | { recurringToken: string };
}

export interface PayOutRequest {
  amount: number;
  currency: string;
  /** Unique per payout; finds one whose answer was lost. */
  orderNumber: string;
  destination: PayOutDestination;
  callbackUrl: string;
}

/** Exactly one of them; held in memory only. */
export interface PayOutDestination {
  card?: Card | undefined;
  recurringToken?: string | undefined;
  bankAccount?: { bankName: string; account: string } | undefined;
}

/** A payment, with values that may leave this process only under an alias. */
export interface FoundPayment<Reported extends ReportedPayment = ReportedPayment> {
  observed: Reported;
  /** The provider's own recurring token. */
  recurringToken?: string;
  /** The provider's callback URL for it; contains our capability and stays in memory. */
  callbackUrl?: string;
  product?: string;
}

/** A row that can be compared with our books. */
export type ComparablePayment = FoundPayment<ReportedPayment & { amount: number; currency: string }>;

/** A dispute in the provider's list. */
export interface ObservedDispute {
  /** The provider's id, unique within the account. */
  id: string;
  amount: number;
  currency: string;
  /** The provider's own value: the specification lists none. */
  status: string;
  state: DisputeState;
  type?: string;
  reasonCode?: string;
  comment?: string;
  /** Milliseconds since the Unix epoch. */
  openedAt?: number;
}

export interface FoundDispute {
  observed: ObservedDispute;
  /** The provider's token of the payment; some deployments omit it. */
  serviceToken?: string;
}

/** Minor units. */
export interface Balance {
  currency: string;
  available: number;
  hold: number;
}

/** The hint in a callback. It proves nothing: its token is inquired. */
export interface CallbackHint {
  about: 'payment' | 'payout' | 'refund' | 'dispute' | 'unknown';
  /** The provider's token of the subject. */
  serviceToken?: string;
  /** As in the callback. */
  status?: string;
}
