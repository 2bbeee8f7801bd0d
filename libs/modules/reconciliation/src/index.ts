/** The module's public names. Files that a caller needs in full are exported in full. */
export type { Books } from './comparison.ts';
export * from './journal.ts';
export * from './public-reconciliation.ts';
export { createReconciler, type ReconcilerDependencies, type ReconciliationHealth } from './reconciler.ts';
export { runReconciliation } from './reconciliation-run.ts';
export * from './reconciliation.ts';
export { soleTeamOf } from './sole-team.ts';
