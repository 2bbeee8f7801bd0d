export * from './view-checkpoint.ts';
export * from './view-kind.ts';
export * from './view-kinds.ts';
export * from './position.ts';
export * from './public-totals.ts';
export * from './totals.ts';
export type { DisputeView, PaymentView, PayoutView, UnmatchedView } from './views.ts';
