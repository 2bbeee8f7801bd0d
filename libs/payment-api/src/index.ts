export * from './values.ts';
export * from './schemas.ts';
export * from './errors.ts';
export * from './classify.ts';
export * from './client.ts';
