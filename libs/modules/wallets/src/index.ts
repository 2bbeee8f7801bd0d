export { type Balances, createBalances } from './balance.ts';
export { createBalanceAndLimitGuard } from './balance-and-limit-guard.ts';
export { differencesOf, recomputeLedger } from './recompute.ts';
export { type TransferDependencies, transferMoney } from './transfers.ts';
export { createWalletReservations, type WalletReservationsDependencies } from './wallet-reservations.ts';
