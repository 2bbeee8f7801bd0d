export * from './credentials.ts';
export * from './roles.ts';
