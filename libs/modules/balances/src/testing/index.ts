export { positionsOf } from './positions-of.ts';
