export * from './allowed-origins.ts';
export * from './api-key.ts';
export * from './ownership.ts';
export * from './team-directory.ts';
export * from './team.ts';
export * from './teams.ts';
