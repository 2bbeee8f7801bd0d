export * from './current-positions.ts';
export { fillIndex } from './filled-index.ts';
export { openIndexForComparison } from './compared-index.ts';
export { pageLengthMax, type ListOfAll } from './index-lists.ts';
export type { FeedEntry, HourCount } from './index-operators.ts';
export type { ReviewEntry } from './index-reviews.ts';
export { formatCursor, type ListOwner } from './list-page.ts';
export * from './payment-index.ts';
export * from './view-list.ts';
