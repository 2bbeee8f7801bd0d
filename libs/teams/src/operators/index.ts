export * from './credential-register.ts';
export * from './credentials.ts';
export * from './grants.ts';
export * from './person-record.ts';
export * from './roles.ts';
export * from './saved-views.ts';
