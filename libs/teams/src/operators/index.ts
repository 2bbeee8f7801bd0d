export * from './credentials.ts';
export * from './grants.ts';
export * from './roles.ts';
export * from './saved-views.ts';
