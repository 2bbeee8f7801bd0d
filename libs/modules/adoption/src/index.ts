export { type AdoptionOrder, adoptPayments } from './adopt-payments.ts';
export type { AdoptedRow, AdoptionOutcome } from './adopt-row.ts';
export type { AdoptionTally } from './adoption-tally.ts';
