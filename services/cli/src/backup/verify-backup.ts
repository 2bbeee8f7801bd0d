/** Checks whether a gateway can be restored from a backup. Reads it in place, needs no gateway, and changes nothing. */
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import {
  type EventStore,
  beginning,
  eventsUntilNow,
  checkEmbeddedCopy,
  openEmbeddedCopy,
  checkDataSecrets,
  schemaVersion,
} from '@tollgate/event-store';
import { topicStreamPrefix } from '@tollgate/message-bus';
import { webhookStreamPrefix } from '@tollgate/webhooks';
import { compareReadModels } from '@tollgate/projector';
import { parseCallbackSecrets } from '@tollgate/provider/callbacks';
import { TollgateError, parseDataSecrets, parseWebhookSecrets, silentLog } from '@tollgate/service-kit';
import {
  type TeamKeys,
  checkChain,
  createTeamRecords,
  securityLogStream,
  teamStreamPrefix,
  verifyAudit,
} from '@tollgate/teams';
import { openTeamKeys } from '@tollgate/gateway/configuration';
import { faultsOf } from '../audit.ts';
import { checkStore } from '../check-store.ts';
import { number } from '../tools.ts';
import {
  type BackedUpFile,
  type Manifest,
  eventsName,
  manifestName,
  readManifest,
  sha256Of,
} from './manifest.ts';

export interface VerifyOptions {
  folder: string;
  signal: AbortSignal;
  /** Receives progress lines. */
  onProgress: (line: string) => void;
}

export type Verified = Awaited<ReturnType<typeof verifyBackup>>;

/** @throws TollgateError `backup_missing`, `backup_manifest_invalid`; the signal's reason if aborted */
export async function verifyBackup(options: VerifyOptions) {
  const { folder, signal, onProgress } = options;
  const manifest = readManifest(folder);
  /** A sentence each. */
  const findings = [...newerVersion(manifest), ...strangers(folder, manifest)];
  for (const file of manifest.files) {
    onProgress(`reading ${file.name}`);
    findings.push(...(await differencesOf(folder, file, signal)));
  }
  const none = { manifest, streams: 0, events: 0, views: 0, teams: 0, securityEntries: 0 };
  const file = join(folder, eventsName);
  if (statSync(file, { throwIfNoEntry: false })?.isFile() !== true) return { ...none, findings };
  onProgress('checking pages, indexes and streams');
  const { findings: damage, ...counts } = checkEmbeddedCopy(file, [topicStreamPrefix, webhookStreamPrefix]);
  findings.push(...damage);
  if (damage.length > 0) return { ...none, ...counts, findings };
  const store = openEmbeddedCopy(file);
  try {
    const read = await readEvents(store, options, manifest);
    findings.push(...read.findings, ...(await secretFindings(folder, manifest, store)));
    const log = await checkSecurityLog(folder, manifest, store);
    findings.push(...log.findings);
    const { views, teams } = read;
    return { manifest, ...counts, views, teams, securityEntries: log.entries, findings };
  } finally {
    await store.close();
  }
}

const newerVersion = ({ schemaVersion: needed, release }: Manifest): string[] =>
  needed <= schemaVersion
    ? []
    : [
        `${manifestName}: the events are of schema version ${needed}, and this release reads up to ${schemaVersion}: use release ${release}.`,
      ];

/** Finds foreign SQLite logs: a write-ahead log next to the events would be merged into them after a full copy. */
const strangers = (folder: string, { files }: Manifest): string[] =>
  readdirSync(folder)
    .filter((name) => name.startsWith(eventsName) && !files.some((file) => file.name === name))
    .map((name) => `${name}: it does not belong to this backup.`);

async function differencesOf(folder: string, file: BackedUpFile, signal: AbortSignal): Promise<string[]> {
  const path = join(folder, file.name);
  const bytes = statSync(path, { throwIfNoEntry: false })?.size;
  if (bytes === undefined) return [`${file.name}: it is missing.`];
  if (bytes !== file.bytes)
    return [
      `${file.name}: it has ${number(bytes)} bytes, and had ${number(file.bytes)} when it was written.`,
    ];
  if ((await sha256Of(path, signal)) === file.sha256) return [];
  return [`${file.name}: it was changed: its SHA-256 differs.`];
}

async function readEvents(store: EventStore, { signal, onProgress }: VerifyOptions, manifest: Manifest) {
  const check = await checkStore({ store, signal }, (events) => onProgress(`${number(events)} events read`));
  const unreadable = check.unreadable.map(
    ({ stream, revision, type, code, message }) =>
      `${stream}: event ${revision} (${type}): ${code}: ${message}.`,
  );
  const views = await viewFindings(store, { signal, onProgress });
  signal.throwIfAborted();
  const last = await store.head();
  const position =
    last === manifest.position ? [] : [`${eventsName}: it ends at ${last} instead of ${manifest.position}.`];
  return {
    views: views.count,
    teams: check.streams['team'] ?? 0,
    findings: [...position, ...unreadable, ...views.findings],
  };
}

async function viewFindings(
  store: EventStore,
  { signal, onProgress }: Pick<VerifyOptions, 'signal' | 'onProgress'>,
): Promise<{ count: number; findings: string[] }> {
  const { views, differing } = await compareReadModels({
    store,
    signal,
    onProgress: ({ compared }) => onProgress(`${number(compared)} views compared`),
  });
  return { count: views, findings: differing.map((stream) => `${stream}: it differs from its events.`) };
}

/** If the backup has the key that signs team events, also checks that the log and the teams agree. */
async function checkSecurityLog(
  folder: string,
  { files }: Manifest,
  store: EventStore,
): Promise<{ entries: number; findings: string[] }> {
  const hasKey = files.some(({ name }) => name === 'operator-signing.pub');
  const { head, fault, teamFaults } = hasKey
    ? await verifyAudit({ store, verifier: teamKeysOf(folder).verifier() })
    : { ...(await checkChain(store.read(securityLogStream))), teamFaults: [] };
  // A team's last changes are added to the log by the next process.
  const gone = teamFaults.filter(({ kind }) => kind === 'gone_or_changed');
  const faults = faultsOf({ head, fault, hasNoted: undefined, teamFaults: gone });
  return { entries: head === undefined ? 0 : head.revision + 1, findings: faults.map(ofLog) };
}

const ofLog = (fault: string) => `security-log: ${fault}`;

const teamKeysOf = (folder: string): TeamKeys => openTeamKeys({}, { path: folder }, { mayInstall: false });

/** Checks that the keys and secrets match the events. */
async function secretFindings(folder: string, { files }: Manifest, store: EventStore): Promise<string[]> {
  const has = (name: BackedUpFile['name']) => files.some((file) => file.name === name);
  const text = (name: BackedUpFile['name']) => readFileSync(join(folder, name), 'utf8').trim();
  const keys = teamKeysOf(folder);
  const checks: [BackedUpFile['name'], () => unknown][] = [
    ['callback-secrets', () => parseCallbackSecrets(text('callback-secrets'))],
    ['webhook-secrets', () => parseWebhookSecrets(text('webhook-secrets'))],
    ['data-secrets', () => checkDataSecrets(store, parseDataSecrets(text('data-secrets')))],
    ['operator-signing.key', () => keys.signer()],
    ['operator-signing.pub', () => requireSignedTeams(store, keys)],
  ];
  const findings: string[] = [];
  for (const [name, check] of checks) {
    if (!has(name)) continue;
    try {
      await check();
    } catch (error) {
      if (!(error instanceof TollgateError)) throw error;
      findings.push(`${name}: ${error.message}`);
    }
  }
  return findings;
}

async function requireSignedTeams(store: EventStore, keys: TeamKeys): Promise<void> {
  const records = createTeamRecords({ verifier: keys.verifier(), log: silentLog, onChange: () => undefined });
  for await (const event of eventsUntilNow(store, { from: beginning, prefixes: [teamStreamPrefix] }))
    records.apply(event);
  const { suspectStreams } = records.health();
  if (suspectStreams.length === 0) return;
  throw new TollgateError(
    'team_events_unsigned',
    `It has not signed all events of ${suspectStreams.join(', ')}, and unsigned events are ignored.`,
  );
}
