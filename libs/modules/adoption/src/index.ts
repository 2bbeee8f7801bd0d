export { type AdoptionOrder, adoptPayments, type AdoptionTally } from './adopt-payments.ts';
export type { AdoptedRow, AdoptionOutcome } from './adopt-row.ts';
