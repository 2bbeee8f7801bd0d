export { balanceOf, reservationsOf } from './reservations-of.ts';
