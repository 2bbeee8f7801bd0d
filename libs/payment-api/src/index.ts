export * from './values.ts';
export * from './schemas.ts';
export * from './errors.ts';

export * from './card-number.ts';
export * from './currencies.ts';
