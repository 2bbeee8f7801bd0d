export * from './current-positions.ts';
export { type PositionQuery } from './index-positions.ts';
export { formatCursor, type ListOwner } from './list-page.ts';
export { type OwnedReviewEntry } from './index-reviews.ts';
export * from './payment-index.ts';
export * from './position-watch.ts';
export * from './view-list.ts';
