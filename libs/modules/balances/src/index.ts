export { type Balances, createBalances, readBalance } from './balance.ts';
export {
  createBalanceGuard,
  createPositions,
  type Positions,
  type PositionsDependencies,
} from './positions.ts';
