export { balanceOf, reservationsOf } from './reservations-of.ts';
export { holding } from './held-store.ts';
