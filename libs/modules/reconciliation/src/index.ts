export type { Books } from './comparison.ts';
export { createJournal, lastReconciled, reportReconciliation, requestReconciliation } from './journal.ts';
export { toPublicDifferences, toPublicReconciliation } from './public-reconciliation.ts';
export { createReconciler, type ReconcilerDependencies, type ReconciliationHealth } from './reconciler.ts';
export { type RunDependencies, runReconciliation } from './reconciliation-run.ts';
export {
  type Counts,
  decodeReconciliationEvent,
  decodeReconciliationJournalEvent,
  type Difference,
  differenceCountOf,
  evolveReconciliationReport,
  noCounts,
  type ReconciliationEvent,
  reconciliationJournal,
  type ReconciliationReport,
  type ReconciliationRequest,
  reconciliationStream,
  reconciliationStreamPrefix,
  type ReconciliationSummary,
} from './reconciliation.ts';
export { soleTeamOf } from './sole-team.ts';
export { postponeVerified } from './verified.ts';
