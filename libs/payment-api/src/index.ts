export * from '@tollgate/core/money';
export * from './schemas.ts';
export * from './errors.ts';
export * from './visible-text.ts';
