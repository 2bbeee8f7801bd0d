/** The module's public names. Files that a caller needs in full are exported in full. */
export * from './api-key.ts';
export {
  type Authentication,
  type Caller,
  type CallerScope,
  sessionIdleMsDefault,
} from './authentication.ts';
export { createKeyUse, lastUseOf } from './key-use.ts';
export { networksMax } from './networks.ts';
export {
  createCredentialRegister,
  type RegisteredCredential,
  sessionLifetimeMs,
} from './operators/credential-register.ts';
export * from './operators/credentials.ts';
export * from './operators/grants.ts';
export * from './operators/saved-views.ts';
export * from './security-log/audit.ts';
export { checkChain } from './security-log/chain.ts';
export * from './security-log/entries.ts';
export { createSecurityLog, type SecurityLog } from './security-log/security-log.ts';
export { createSecurityWatch, type SecurityWatch } from './security-log/security-watch.ts';
export { followTeamChanges, recordTeamChanges } from './security-log/team-changes.ts';
export { createTeamSigner, createTeamVerifier, newSigningKeys } from './signing/signed-events.ts';
export * from './team-directory.ts';
export * from './team.ts';
export * from './teams.ts';
export { rotationsMax, webhookSecretVersions } from './webhook-rotation.ts';
