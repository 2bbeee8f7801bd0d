export * from './allowed-origins.ts';
export * from './api-key.ts';
export * from './key-use.ts';
export {
  limitedOperations,
  type LimitedOperation,
  type MoneyLimit,
  type Wallet,
  walletNameSchema,
} from './money-settings.ts';
export * from './networks.ts';
export * from './operators/index.ts';
export * from './ownership.ts';
export * from './security-log/index.ts';
export * from './signing/signed-events.ts';
export * from './signing/signing-keys.ts';
export * from './team-directory.ts';
export * from './team-records.ts';
export * from './team.ts';
export * from './teams.ts';
export * from './webhook-rotation.ts';
