export {
  type AnyEvent,
  historiesOf,
  planted,
  startedAt,
  toNewEvents,
  toRecordedIn,
  walletTransferred,
} from './histories.ts';
export {
  adopted,
  anyHistory,
  happening,
  processingUrl,
  requested,
  type RequestedOptions,
} from './payment-histories.ts';
export {
  anyDisputeHistory,
  anyPayoutHistory,
  disputeHappening,
  disputeOpened,
  payoutApprovalRequested,
  payoutHappening,
  payoutRequested,
  type PayoutRequestedOptions,
} from './payout-histories.ts';
export {
  appendEvents,
  appendPayment,
  foldStored,
  paymentViewStream,
  plantView,
  projectEvents,
  projectPayment,
  storedTexts,
  storedViews,
  writeCheckpoint,
  writeView,
} from './stored-payments.ts';
