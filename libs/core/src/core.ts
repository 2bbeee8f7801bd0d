/** Composes the core once: aggregates, sender, inquiries. Nothing else calls a provider or writes payments and payouts. */
import { type EventStore, createRecentlyUsed } from '@tollgate/event-store';
import type { Environment } from './domain/values.ts';
import type { CallTimes } from './domain/outbound-call/outbound-call.ts';
import { type Clock, type Ids, type Log, type Vault, inCause } from '@tollgate/service-kit';
import type { ChangeableAccounts } from './accounts.ts';
import { createPayments } from './aggregates/payments.ts';
import { createPayouts } from './aggregates/payouts.ts';
import { createRecurringTokens } from './aggregates/recurring-tokens.ts';
import { createRefundKeys } from './aggregates/refund-keys.ts';
import type { Cause } from './aggregates/repository.ts';
import { createAskAccount, inquiryPriorityOf } from './outbound/ask-account.ts';
import { type LastAnswer, inquireAbout, lastAnswersMax } from './inquiry/inquire.ts';
import { createInquiries } from './inquiry/inquiries.ts';
import type { DecisionRecorder } from './operations/recorded-decision.ts';
import { createQuietPeriods } from './outbound/quiet-periods.ts';
import { createSender } from './outbound/send-once.ts';
import type { FingerprintsOf } from './tokens.ts';

export interface CoreDependencies extends DecisionRecorder {
  /** As returned by `nameOfInstallation`. */
  installation: string;
  store: EventStore;
  accounts: ChangeableAccounts;
  /** Environments in which resolving a review requires two people. */
  reviewsByTwo: readonly Environment[];
  fingerprintsOf: FingerprintsOf;
  /** Encrypts values that must not be readable in the store. */
  vault: Vault;
  times: CallTimes;
  /** The callback URL of one payment or payout. */
  callbackUrlOf: (environment: string, token: string, issuedAt: number) => string;
  clock: Clock;
  ids: Ids;
  log: Log;
}

export type Core = ReturnType<typeof createCore<CoreDependencies>>;

/** @param stopping aborted when the process stops: no call begins after it */
export function createCore<Dependencies extends CoreDependencies>(deps: Dependencies, stopping: AbortSignal) {
  const aggregates = {
    payments: createPayments(deps),
    payouts: createPayouts(deps),
    recurringTokens: createRecurringTokens(deps),
    refundKeys: createRefundKeys(deps),
  };
  const quietPeriods = createQuietPeriods(deps);
  const sender = createSender({ ...deps, quietPeriods, stopping });
  const askAccount = createAskAccount({ ...deps, stopping });
  const lastAnswers = createRecentlyUsed<LastAnswer>(lastAnswersMax);
  const base = { ...deps, ...aggregates, sender, askAccount, quietPeriods, lastAnswers, stopping };
  const inquiries = createInquiries<Cause>(
    (token, cause) => inCause(cause.correlationId, () => inquireAbout(base, token, cause)),
    // A caller's inquiry does not queue behind one of the schedule.
    { stopping, laneOf: (cause) => (inquiryPriorityOf(cause) === 'caller' ? 'caller' : 'background') },
  );
  const inquire = (token: string, cause: Cause) => inquiries.request(token, cause);
  return { ...base, inquiries, inquire };
}
