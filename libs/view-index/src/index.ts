export { currentBoot, noteClosed, noteOpen, openUnderSchema } from './boot.ts';
export * from './current-positions.ts';
export { Unusable } from './index-rows.ts';
export { type PositionQuery } from './index-positions.ts';
export { formatCursor, type ListOwner } from './list-page.ts';
export { deleteIndexFile, isDamage, requireSound } from './open-index-file.ts';
export * from './payment-index.ts';
export * from './position-watch.ts';
export * from './view-list.ts';
