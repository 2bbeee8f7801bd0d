export {
  type AccountChanges,
  type AccountsFile,
  createAccountChanges,
  type FileDifferences,
  readAccountChanges,
} from './accounts/account-changes.ts';
export { type Account, type AccountConfig, type AccountHealth, inquiryLimits } from './accounts/account.ts';
export {
  type Accounts,
  type ChangeableAccounts,
  createAccounts,
  type InquiryLimits,
} from './accounts/accounts.ts';
export {
  type AccountChangeDependencies,
  changeAccount,
  daysToReconcile,
  type LastReconciled,
  recordRestore,
  requestReload,
} from './accounts/change-account.ts';
export { startEpoch } from './accounts/start-epoch.ts';
export { startStopwatch } from './accounts/stopwatch.ts';
export {
  forgetCustomerOf,
  type ForgetDependencies,
  isCustomerKept,
  remainingPlaces,
  remainingTexts,
} from './aggregates/customers.ts';
export { checkDataSecrets, requireDataSecrets, retireDataSecret } from './aggregates/data-secrets.ts';
export { nameOfInstallation } from './aggregates/installation.ts';
export { type Adoptions, createAdoptions } from './aggregates/payments.ts';
export { type Payouts } from './aggregates/payouts.ts';
export {
  createRecurringTokens,
  type RecurringTokens,
  rewrapRecurringTokens,
} from './aggregates/recurring-tokens.ts';
export { type Cause, createRepository, type Repository, requireDone } from './aggregates/repository.ts';
export {
  type AnySubject,
  creationOf,
  isPayoutToken,
  stateOf,
  type Subjects,
  subjectsOf,
  type SubjectState,
} from './aggregates/subjects.ts';
export {
  createUnmatchedOperations,
  deriveUnmatchedToken,
  resolveAsKnown,
  type UnmatchedOperations,
} from './aggregates/unmatched.ts';
export { createBackground } from './background.ts';
export { type CallbackConsumerDependencies, consumeCallbacks } from './callbacks/callback-consumer.ts';
export {
  decodeCallbackRecord,
  decodeDlqRecord,
  encodeCallbackRecord,
  encodeDeadLetter,
  type EncodedRecord,
  parseObject,
  providerCallbacksDlqTopic,
  providerCallbacksTopic,
} from './callbacks/callback-records.ts';
export { publishDeadLettersAgain, readDeadLetters } from './callbacks/dead-letters.ts';
export { type Core, type CoreDependencies, createCore } from './core.ts';
export {
  type DisputeAggregate,
  evolveDisputeAggregate,
  evolvePaymentAggregate,
  evolvePayoutAggregate,
  evolveTransferAggregate,
  evolveUnmatchedAggregate,
  type PaymentAggregate,
  type PayoutAggregate,
  type TransferAggregate,
  type UnmatchedAggregate,
} from './domain/aggregate.ts';
export {
  isAllowedOrigin,
  normaliseOrigin,
  type OriginPurpose,
  originPurposes,
  originsMax,
} from './domain/allowed-origins.ts';
export { containsCardNumber, isCardNumber, isOnlyCardNumber, maskedText } from './domain/card-number.ts';
export { customerStream } from './domain/customer.ts';
export type { Decision } from './domain/decision.ts';
export { isRefundedByWord } from './domain/discrepancy.ts';
export {
  decideDispute,
  decodeDisputeEvent,
  type DisputeEvent,
  disputeEventSchemas,
  type DisputeEventType,
  type DisputeRefusal,
  disputeStates,
  disputeStream,
  disputeStreamPrefix,
  evolveDispute,
  type ObservedDispute,
  type ObserveDispute,
  versionOfDisputeEvent,
} from './domain/dispute/dispute.ts';
export {
  createLedgerChanges,
  type EntryKind,
  entryKindOf,
  entryKinds,
  entriesOf,
  type LedgerAccount,
  ledgerAccounts,
  type LedgerAmounts,
  type LedgerOwner,
  type Spending,
  spendingOfPayment,
  spendingOfPayout,
  type Standing,
  standingsOfPayment,
  standingsOfPayout,
  standingsOfTransfer,
} from './domain/ledger.ts';
export type { DueInquiries, DueItem, DueQueue, Postponed } from './domain/due-inquiries.ts';
export { type Actor, type EventMetadata, eventMetadataSchema, type Person } from './domain/event-metadata.ts';
export { type InquiryNeed, inquiryNeeds } from './domain/failed-inquiry.ts';
export {
  firstInquiryAt,
  type InquiryDelays,
  inquiryDelays,
  type InquiryItem,
  inquiryShardOf,
  inquiryShards,
  nextInquiryAt,
} from './domain/inquiry-times.ts';
export { InvariantViolation, unreachable } from './domain/invariant.ts';
export {
  type AccountChange,
  type AccountRefusal,
  type AccountState,
  accountStates,
  merchantAccountKey,
} from './domain/merchant-account/merchant-account.ts';
export {
  type Metadata,
  metadataBytes,
  metadataBytesMax,
  metadataLimits,
  metadataSchema,
} from './domain/metadata.ts';
export { type CallOutcome, type EndReason, endReasons } from './domain/outbound-call/outbound-call.ts';
export { isOwnedBy, isToken } from './domain/ownership.ts';
export { type AdoptionRefusal, adoptPayment, type AdoptPayment } from './domain/payment/adoption.ts';
export { mayBePaid } from './domain/payment/creation.ts';
export { disputedAmount, lostAmount } from './domain/payment/payment-state.ts';
export { callWithoutOutcome, inquiryNeedOf } from './domain/payment/inquiry-need.ts';
export { refundedAmountOf, statusOf } from './domain/payment/observation.ts';
export type { ObservedPayment, PaymentRefusal, RecordDispute } from './domain/payment/payment-commands.ts';
export {
  decodePaymentEvent,
  type PaymentEvent,
  type PaymentEventOf,
  paymentEventSchemas,
  type PaymentEventType,
  paymentFailureSchema,
  paymentStream,
  paymentStreamPrefix,
  reviewCodes,
  termsSchema,
} from './domain/payment/payment-events.ts';
export {
  isFinalPhase,
  paymentMachine,
  type PaymentMachineEvent,
  type PaymentMachineState,
  type PaymentPhase,
  paymentPhases,
  paymentWalk,
  statusOfPhase,
} from './domain/payment/payment-machine.ts';
export { evolve } from './domain/payment/payment-evolve.ts';
export {
  isAllowed,
  machineStateOf,
  type Payment,
  paymentSchema,
  type PaymentState,
  type Refund,
  refundableAmount,
  refundSchema,
  reservedAmount,
  undecidedRefund,
} from './domain/payment/payment-state.ts';
export { doubtsAbout, mayBeMade, mayHaveBeenMade } from './domain/payment/refunds.ts';
export { resolutionsOf } from './domain/payment/resolutions.ts';
export type {
  AskPayoutApproval,
  ObservedPayout,
  PayoutRefusal,
  RequestPayout,
} from './domain/payout/payout-commands.ts';
export { payoutResolutionsOf } from './domain/payout/payout-decide.ts';
export {
  decodePayoutEvent,
  type PayoutEvent,
  type PayoutEventOf,
  payoutEventSchemas,
  type PayoutEventType,
  payoutFailureSchema,
  payoutReviewCodes,
  type PayoutStatus,
  payoutStatuses,
  payoutStatusSchema,
  payoutStream,
  payoutStreamPrefix,
} from './domain/payout/payout-events.ts';
export { type PayoutPhase, payoutPhases, statusOfPayoutPhase } from './domain/payout/payout-machine.ts';
export { mayBePaidOut } from './domain/payout/payout-observation.ts';
export {
  evolvePayout,
  inquiryNeedOfPayout,
  isBeforeAnnouncement,
  isPayoutAwaited,
  type Payout,
  payoutSchema,
} from './domain/payout/payout-state.ts';
export { recurringStream, recurringTokenContext, recurringTokenStoredSchema } from './domain/recurring.ts';
export { type RefundKey, refundKeyStream, refundKeyUsedSchema } from './domain/refund-key.ts';
export {
  type LimitedOperation,
  limitedOperations,
  limitSchema,
  type MoneyLimit,
  type Requester,
  providerWallet,
  type Wallet,
  ownWalletTeam,
  walletNameOf,
  walletNameSchema,
  walletSchema,
} from './domain/requester.ts';
export {
  decodeTransferEvent,
  type Transfer,
  transferSchema,
  transferStream,
  transferStreamPrefix,
} from './domain/transfer.ts';
export { isAbout, resolutionSchema, type Review } from './domain/review.ts';
export { eventFamily, type EventOf, firstSchemaVersion, schemaVersion } from './domain/schema-version.ts';
export {
  decideUnmatched,
  decodeUnmatchedEvent,
  evolveUnmatched,
  type OperationKind,
  operationKindSchema,
  type UnmatchedEvent,
  unmatchedResolutions,
  unmatchedSchema,
  unmatchedStreamPrefix,
} from './domain/unmatched/unmatched.ts';
export { type Environment, environmentSchema, instantSchema, reportedSumSchema } from './domain/values.ts';
export {
  type AskAccount,
  createAskAccount,
  inquiryScheduleName,
  reconciliationName,
} from './outbound/ask-account.ts';
export { createInquiryOnRead } from './inquiry/inquire-on-read.ts';
export { inquireNamed, type Listed } from './inquiry/inquire.ts';
export { type InquiryResult } from './inquiry/inquiries.ts';
export {
  createInquirySchedule,
  type InquirySchedule,
  type InquiryScheduleDependencies,
  type InquiryScheduleHealth,
} from './inquiry/inquiry-schedule.ts';
export { type Place, runShards } from './inquiry/inquiry-shards.ts';
export { createKeyedMutex } from './keyed-mutex.ts';
export type { OriginRefusal } from './operations/allowed-origin.ts';
export { captureOrVoid, type CaptureOrVoidDependencies } from './operations/capture-or-void.ts';
export { createPayment, type CreatePaymentDependencies, toTerms } from './operations/create-payment.ts';
export {
  createPayout,
  isPaidTo,
  type CreatePayoutDependencies,
  type CreatePayoutResult,
} from './operations/create-payout.ts';
export type {
  BalanceRefusal,
  Guard,
  GuardedCommand,
  GuardRefusal,
  LimitRefusal,
} from './operations/guard.ts';
export { inProgress, type NotBegun, type OperationDependencies } from './operations/operation.ts';
export { type DecisionRecorder, recordDecision } from './operations/recorded-decision.ts';
export {
  type RefundedPayment,
  refundPayment,
  type RefundPaymentDependencies,
} from './operations/refund-payment.ts';
export { resolveReview, type ResolveReviewDependencies } from './operations/resolve-review.ts';
export { type CallTimes, quietPeriodMs } from './outbound/call-times.ts';
export { type QuietPeriods } from './outbound/quiet-periods.ts';
export { createSender } from './outbound/send.ts';
export {
  type AuthorizeRequest,
  type Balance,
  type CallbackHint,
  type ComparablePayment,
  type FoundDispute,
  type FoundPayment,
  type Inquirer,
  type InquiryOutcome,
  type MaySend,
  type Page,
  type PageQuery,
  pageRows,
  type Provider,
} from './provider.ts';
export { runWhile } from './run-while.ts';
export {
  createFingerprints,
  deriveAdoptedToken,
  deriveOperationToken,
  deriveRecurringAlias,
  deriveToken,
  type IdempotencyKey,
  tokenInOrderNumber,
} from './tokens.ts';
