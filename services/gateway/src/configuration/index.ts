/** Configuration and data directory, shared with the command line. */
export { openStore } from '../composition/open-store.ts';
export { type AccountName, accountEntrySchema } from './account-config.ts';
export { type ConfigField, fieldsOf } from './config-fields.ts';
export { dataDirConfigSchema, defaultCallDeadlineMs, gatewayConfigSchema } from './config.ts';
export {
  type DataDirectory,
  type Quickstart,
  flush,
  openDataDirectory,
  restoringName,
} from './data-directory.ts';
export type { InternalSecrets } from './internal-secrets.ts';
export { type KafkaConfig, minInsyncReplicasOf } from './kafka-config.ts';
export { release } from './release.ts';
export { accountNamesBesideGateway, accountsBesideGateway } from './sandbox-account.ts';
export { providerCalls, serviceNames } from './service-names.ts';
export { variablesOf } from './service-variables.ts';
export { systemPerson } from './system-person.ts';
export { type InstalledTeamKeys, openTeamKeys } from './team-signing.ts';
