/**
 * The port to a payment provider, in our own words. Everything that a provider says differently is translated behind it,
 * one folder for each provider (`payment-service/`); `provider.contract.ts` is the suite that each of them passes.
 */
import type {
  AuthorizationOutcome,
  RefundOutcome,
  ReportedPayment,
} from './domain/payment/payment-commands.ts';
import type { CallOutcome } from './domain/outbound-call/outbound-call.ts';
import type { ObservedDispute } from './domain/dispute/dispute.ts';
import type { ObservedPayout, PayoutOutcome } from './domain/payout/payout-commands.ts';

/**
 * One merchant account at a provider. No operation rejects for anything that the provider or the network does. Each is
 * sent once; its {@link CallOutcome} says what is proven: `refused` and `not-sent` only if no money can have moved.
 * Amounts are in minor units and as the provider gives them: whether they are the right ones is decided by the domain.
 */
export interface Provider {
  /** Creates a payment: a hosted page, or a charge of the given source. */
  authorize(request: AuthorizeRequest, maySend: MaySend): Promise<AuthorizationOutcome>;
  /** Takes all the authorized money. */
  capture(serviceToken: string, maySend: MaySend): Promise<CallOutcome<{ observed?: ReportedPayment }>>;
  /** Lets all the authorized money go. */
  void(serviceToken: string, maySend: MaySend): Promise<CallOutcome<{ observed?: ReportedPayment }>>;
  refund(request: { serviceToken: string; amount: number }, maySend: MaySend): Promise<RefundOutcome>;
  payout(request: PayOutRequest, maySend: MaySend): Promise<PayoutOutcome>;
  inquirePayment(serviceToken: string): Promise<InquiryOutcome<FoundPayment>>;
  inquirePayout(serviceToken: string): Promise<InquiryOutcome<ObservedPayout>>;
  /** Everything under an order number, newest first; none is `accepted` only if it is proven. */
  listPayments(query: { orderNumber: string }): Promise<InquiryOutcome<FoundPayment[]>>;
  listPayouts(query: { orderNumber: string }): Promise<InquiryOutcome<ObservedPayout[]>>;
  /** One page of all payments that were created there on some days; `accepted` only if it is proven to be that page. */
  pageOfPayments(query: PageQuery): Promise<InquiryOutcome<Page<ComparablePayment>>>;
  pageOfPayouts(query: PageQuery): Promise<InquiryOutcome<Page<ObservedPayout>>>;
  balance(currency: string): Promise<InquiryOutcome<Balance>>;
  /** The newest disputes: one that is not among them may still exist. */
  listDisputes(): Promise<InquiryOutcome<DisputeList>>;
  /** Waits for the calls under way, at most one deadline; later calls are `not-sent`. */
  close(): Promise<void>;
}

/**
 * Asked once the connection stands and the first byte is about to leave. Where it gives false nothing is sent, and the
 * outcome is `not-sent`: connecting may take longer than the call may wait, and a process may sleep in between.
 */
export type MaySend = () => boolean;

/** The operations that change nothing at the provider. */
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
  /** How many more were shown, of which nobody can tell what they are. */
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
  /** How many there are on all pages, where the provider tells it. */
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
  /** Unique for every attempt: an attempt whose answer was lost is found by it. */
  orderNumber: string;
  callbackUrl: string;
  redirectSuccessUrl?: string;
  redirectFailUrl?: string;
  /** BCP 47 language tag. */
  locale?: string;
  customer?: { email?: string | undefined; ip?: string | undefined };
  /** True if the money is authorized now, and captured or voided later. */
  isCaptureDeferred: boolean;
  /** True if a recurring token is wanted. */
  isRecurring: boolean;
  /** How long the answer is waited for, if not as long as for every call. @unit milliseconds */
  answerWithinMs?: number;
  /** What is charged; absent: the customer chooses on a hosted page. */
  source?: { card: Card & { holder: string; cvv: string } } | { recurringToken: string };
}

export interface PayOutRequest {
  amount: number;
  currency: string;
  /** Unique for every payout: one whose answer was lost is found by it. */
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

/** A payment with what may only leave this process under an alias. */
export interface FoundPayment<Reported extends ReportedPayment = ReportedPayment> {
  observed: Reported;
  /** The provider's own recurring token. */
  recurringToken?: string;
  /** Where the provider sends its callbacks; it holds our capability and stays in memory. */
  callbackUrl?: string;
  product?: string;
}

/** A row that can be compared with our books. */
export type ComparablePayment = FoundPayment<ReportedPayment & { amount: number; currency: string }>;

export interface FoundDispute {
  observed: ObservedDispute;
  /** The provider's token of the payment that it is about; some deployments leave it out. */
  serviceToken?: string;
}

/** Minor units. */
export interface Balance {
  currency: string;
  available: number;
  hold: number;
}

/** What a callback hints at. It proves nothing: what it names is inquired. */
export interface CallbackHint {
  about: 'payment' | 'payout' | 'refund' | 'dispute' | 'unknown';
  /** The provider's token of what it is about. */
  serviceToken?: string;
  /** As the callback says. */
  status?: string;
}
