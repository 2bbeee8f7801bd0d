export { openIndexForReading } from './followed-index.ts';
export type { RecordOf } from './feed/feed-pages.ts';
export { registerFeedRoutes } from './feed/feed-routes.ts';
export { fillIndex } from './filled-index.ts';
export type { MonthSum } from './index-journal.ts';
export { pageLengthMax } from './index-lists.ts';
export type { CountQuery, PhaseCount } from './index-operators.ts';
export type { RefundEntry } from './index-refunds.ts';
export { type ReviewEntry, reviewKinds } from './index-reviews.ts';
export {
  formatCursor,
  type ListOwner,
  type Listing,
  type OperationView,
  type ViewList,
} from './list-page.ts';
export { createPaymentIndex, type IndexBuilding, type PaymentIndex } from './payment-index.ts';
