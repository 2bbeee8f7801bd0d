/** The module's public names. Files that a caller needs in full are exported in full. */
export * from './journal.ts';
export * from './ledger-source.ts';
export * from './projector.ts';
export * from './totals.ts';
export * from './view-kind.ts';
export * from './view-kinds.ts';
export { nothingProjected } from './view-writer.ts';
