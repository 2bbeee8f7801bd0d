export { type ApiKey, formatApiKey, hashApiKeySecret, parseApiKey } from './api-key.ts';
export { createKeyUse, lastUseOf } from './key-use.ts';
export { networksMax } from './networks.ts';
export {
  createCredentialRegister,
  sessionLifetimeMs,
  type RegisteredCredential,
} from './operators/credential-register.ts';
export {
  createOperatorCredentials,
  isKeyIdOfPerson,
  keyIdOfPerson,
  type Operator,
  type OperatorClaims,
  type OperatorCredentials,
} from './operators/credentials.ts';
export {
  everywhere,
  formatGrants,
  type Grant,
  grantsSchema,
  mayDo,
  mergeGrants,
  parseGrant,
  type Reach,
  reachOf,
  scopesToGive,
  toGrant,
  type OperatorRole,
  operatorRoles,
  type OperatorScope,
  operatorScopes,
  type PersonScope,
  personScopes,
  rightsOf,
} from './operators/grants.ts';
export { createSavedViews, savedViewSchema, savedViewsMax } from './operators/saved-views.ts';
export {
  type AuditEntry,
  type CheckedLog,
  readAudit,
  readAuditPage,
  verifyAudit,
} from './security-log/audit.ts';
export { checkChain } from './security-log/chain.ts';
export {
  type SecurityEvent,
  type SecurityEventKind,
  securityEventKinds,
  securityLogStream,
} from './security-log/entries.ts';
export { createSecurityLog, type SecurityLog } from './security-log/security-log.ts';
export { createSecurityWatch, type SecurityWatch } from './security-log/security-watch.ts';
export { followTeamChanges, recordTeamChanges } from './security-log/team-changes.ts';
export { createTeamSigner, createTeamVerifier, newSigningKeys } from './signing/signed-events.ts';
export {
  type Authentication,
  type Caller,
  type CallerScope,
  createTeamDirectory,
  sessionIdleMsDefault,
  type TeamDirectory,
} from './team-directory.ts';
export { createTeamRecords, createTeams, newApiKey, type TeamKeys, type Teams } from './teams.ts';
export {
  activeKeysIn,
  activeKeysMax,
  decideTeam,
  decodeTeamEvent,
  evolveTeam,
  isExpired,
  requestsPerSecondSchema,
  type Scope,
  scopes,
  scopeSchema,
  type Team,
  teamChanges,
  type TeamCommand,
  type TeamDecision,
  type TeamKey,
  teamNameSchema,
  type TeamRefusal,
  type TeamState,
  teamStreamPrefix,
} from './team.ts';
export { rotationsMax, webhookSecretVersions } from './webhook-rotation.ts';
