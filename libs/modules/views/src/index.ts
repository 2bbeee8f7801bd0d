export { journalOf, type JournalRow } from './journal.ts';
export {
  ledgerPrefixes,
  type LedgerNow,
  type LedgerQuery,
  type LedgerSource,
  readLedger,
  type SpentQuery,
  type WalletQuery,
} from './ledger-source.ts';
export { createProjection, nothingProjected } from './view-writer.ts';
export { createProjector, type Projector, type ProjectorHealth, type ProjectorOptions } from './projector.ts';
export { type Contribution, SumTooLarge, toPublicTotals, type TotalsRow } from './totals.ts';
export {
  checkpointStream,
  type ViewCheckpoint,
  viewCheckpointSchema,
  type Columns,
  foldStream,
  readView,
  streamOf,
  type ViewEnvelope,
  type ViewKind,
  viewSchemaVersion,
  viewStreamOf,
  viewWrittenType,
} from './view-kind.ts';
export {
  disputeKind,
  foldedPrefixes,
  foldRules,
  kindOfStream,
  paymentKind,
  payoutKind,
  transferKind,
  unmatchedKind,
  viewKinds,
} from './view-kinds.ts';
export type { DisputeView, PaymentView, PayoutView, UnmatchedView } from './views.ts';
