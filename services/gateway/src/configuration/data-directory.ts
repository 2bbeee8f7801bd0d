/** The folder that holds everything durable of the embedded way of running, and what is read from it at the start. */
import {
  accessSync,
  chmodSync,
  closeSync,
  constants,
  existsSync,
  fsyncSync,
  linkSync,
  openSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { type CallbackSecret, parseCallbackSecrets } from '@tollgate/provider/callbacks';
import {
  type DataSecrets,
  type Ids,
  type WebhookMasterSecret,
  StartupError,
  errorCode,
  parseDataSecrets,
  lockFile,
  parseWebhookSecrets,
  makeFolder,
} from '@tollgate/service-kit';
import { z } from 'zod';
import { type InternalSecrets, parseInternalSecrets } from './internal-secrets.ts';

/** What a script or a newcomer needs to drive the running system. */
export const quickstartSchema = z.object({
  gatewayUrl: z.string(),
  /** Of the demo team; absent if there is none, and where it was revoked. */
  apiKey: z.string().exactOptional(),
  callbackUrl: z.string(),
  /** Metrics and health; that of the front door if each service is its own process. */
  metricsUrl: z.string(),
  /** Of the sandbox; absent where the gateway calls the accounts of a file. */
  paymentServiceUrl: z.string().exactOptional(),
  paymentServiceHttpUrl: z.string().exactOptional(),
  paymentServiceKey: z.string().exactOptional(),
  caFile: z.string().exactOptional(),
  pid: z.int(),
});
export type Quickstart = z.infer<typeof quickstartSchema>;

export interface DataDirectory {
  path: string;
  eventsFile: string;
  indexFile: string;
  /**
   * Keeps every other process from an index of this folder: what one of them writes, the other would not know.
   *
   * @throws StartupError `data_dir_in_use`
   */
  lockIndex(file: string): { close(): void };
  /**
   * For a store that is a file here. Before it is opened, which would start an empty one if it was lost.
   *
   * @throws StartupError if it is missing or empty, and what was made from it is there
   */
  requireStore(): void;
  /** The index of a command service that runs apart from the query service. */
  commandIndexFile: string;
  /** What became of the requests of the last days. */
  requestsFile: string;
  /** The outcome of each webhook. */
  webhooksFile: string;
  quickstartFile: string;
  /** Lists the processes of a system that has several. */
  processesFile: string;
  /** The file of the last start, or undefined if there is none that can be read. */
  readQuickstart(): Quickstart | undefined;
  /** That of the gateway that has no name of its own. */
  readFirstQuickstart(): Quickstart | undefined;
  /** Replaces the file in one step; only its owner may read it. */
  writeQuickstart(quickstart: Quickstart): void;
  /** The secrets of callback addresses, made at the first start. */
  callbackSecrets(ids: Ids): readonly CallbackSecret[];
  /** The secrets that services know each other by, made at the first start. */
  internalSecrets(ids: Ids): InternalSecrets;
  /** The masters of the secrets that webhooks are signed with, made at the first start. */
  webhookSecrets(ids: Ids): readonly WebhookMasterSecret[];
  /** What protects data in the event store, made at the first start. */
  dataSecrets(ids: Ids): DataSecrets;
}

/**
 * Makes the folder if it is missing.
 *
 * @param instance tells the files of one of several gateways on the same folder from those of the others
 * @param indexDir of the indexes, which are caches; `dataDir` unless given, which is also right for who has none
 * @throws StartupError if a folder cannot be written
 */
export function openDataDirectory(dataDir: string, instance?: string, indexDir = dataDir): DataDirectory {
  const path = resolve(dataDir);
  const indexPath = resolve(indexDir);
  requireWritable(path, 'TOLLGATE_DATA_DIR');
  requireWritable(indexPath, 'TOLLGATE_INDEX_DIR');
  const own = (name: string, extension: string, folder = path) =>
    join(folder, instance === undefined ? `${name}${extension}` : `${name}-${instance}${extension}`);
  const quickstartFile = own('quickstart', '.json');
  const eventsFile = join(path, 'events.db');
  const indexFile = own('index', '.db', indexPath);
  const firstQuickstartFile = join(path, 'quickstart.json');
  const readSecrets = <Secrets>(name: string, ids: Ids, parse: (text: string) => Secrets): Secrets => {
    const file = join(path, name);
    makePrivately(file, `k1:${ids.hex(32)}\n`);
    const text = readFileSync(file, 'utf8').trim();
    try {
      return parse(text);
    } catch (cause) {
      throw secretsDamaged(file, cause);
    }
  };
  return {
    path,
    eventsFile,
    indexFile,
    requireStore: () => requireStore(eventsFile, [...leftIn(indexPath), ...leftIn(path)]),
    lockIndex: (file) => lockIndex(file, path),
    commandIndexFile: own('command-service-index', '.db', indexPath),
    webhooksFile: own('webhooks', '.db', indexPath),
    requestsFile: own('requests', '.db', indexPath),
    quickstartFile,
    processesFile: own('processes', '.json'),
    readQuickstart() {
      // A further instance continues with the keys of the first one.
      return readQuickstartIn(quickstartFile) ?? readQuickstartIn(firstQuickstartFile);
    },
    readFirstQuickstart: () => readQuickstartIn(firstQuickstartFile),
    writeQuickstart(quickstart) {
      writePrivately(quickstartFile, `${JSON.stringify(quickstart, null, 2)}\n`);
    },
    callbackSecrets: (ids) => readSecrets('callback-secrets', ids, parseCallbackSecrets),
    internalSecrets: (ids) => readSecrets('internal-secrets', ids, parseInternalSecrets),
    webhookSecrets: (ids) => readSecrets('webhook-secrets', ids, parseWebhookSecrets),
    dataSecrets: (ids) => readSecrets('data-secrets', ids, parseDataSecrets),
  };
}

/** What no process has made before it had a store: indexes of any process, and the secrets that the store is written with. */
const madeFromStore =
  /^(?:data-secrets|(?:index|command-service-index|feed|webhooks)(?:-[a-z0-9-]+)?\.db|quickstart(?:-[a-z0-9-]+)?\.json)$/;

const leftIn = (folder: string): string[] =>
  readdirSync(folder)
    .filter((name) => madeFromStore.test(name))
    .map((name) => join(folder, name));

/** Exists from the first file that `tollgate restore` puts in place until its epoch has begun. */
export const restoringName = 'restoring';

function requireStore(file: string, madeFromIt: readonly string[]): void {
  if (existsSync(join(dirname(file), restoringName)))
    throw new StartupError(
      'restore_interrupted',
      `A restore of ${dirname(file)} was interrupted: run tollgate restore with the same backup again.`,
    );
  if ((statSync(file, { throwIfNoEntry: false })?.size ?? 0) > 0) return;
  const left = [...new Set(madeFromIt)].join(', ');
  if (left === '') return;
  throw new StartupError(
    'store_gone',
    `The event store ${file} is missing or empty, although other data of the gateway exist. Restore it from a backup, set EVENTSTORE_URL if it is elsewhere, or move away ${left} to begin without payments.`,
  );
}

function lockIndex(file: string, path: string): { close(): void } {
  try {
    return lockFile(`${file}-lock`);
  } catch (error) {
    if (errorCode(error) === 'lock_held') throw inUse(path, error);
    throw cannotBeWritten(`${file}-lock`, error);
  }
}

/** Of a folder on which another process does what this one would. */
export const inUse = (path: string, cause: unknown): StartupError =>
  new StartupError(
    'data_dir_in_use',
    `Another gateway runs on ${path}: set TOLLGATE_INSTANCE to run a second gateway on the same data, or TOLLGATE_DATA_DIR to another directory, and start again.`,
    { cause },
  );

function requireWritable(path: string, variable: string): void {
  try {
    makeFolder(path);
    accessSync(path, constants.R_OK | constants.W_OK | constants.X_OK);
  } catch (error) {
    const reason = errorCode(error) ?? 'unknown error';
    throw new StartupError(
      'data_dir_unusable',
      `The directory ${path} cannot be written (${reason}). Set ${variable} to a folder that this user may write, and start again.`,
      { cause: error },
    );
  }
}

const readQuickstartIn = (file: string): Quickstart | undefined =>
  quickstartSchema.safeParse(readJson(file)).data;

function readJson(file: string): unknown {
  try {
    return JSON.parse(readFileSync(file, 'utf8'));
  } catch {
    return undefined;
  }
}

/**
 * Makes a file unless there is one, whole or not at all: of two first starts at once, both go on with what one of them has
 * made, and one that is killed in between leaves nothing that the next would trip over.
 */
export function makePrivately(file: string, text: string): void {
  // On a full disk nothing could be written, and nothing has to be.
  if (existsSync(file)) return;
  const own = `${file}.${process.pid}`;
  try {
    // What it protects may be durable before it is, and must not be all that a power cut leaves.
    writeFileSync(own, text, { mode: 0o600, flush: true });
    linkSync(own, file);
  } catch (error) {
    if (errorCode(error) !== 'EEXIST') throw cannotBeWritten(file, error);
  } finally {
    rmSync(own, { force: true });
  }
  flush(dirname(file));
}

/** Makes a file durable, or with a folder the names in it. */
export function flush(path: string): void {
  const descriptor = openSync(path, 'r');
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

function writePrivately(file: string, text: string): void {
  const next = `${file}.next`;
  try {
    writeFileSync(next, text, { mode: 0o600, flush: true });
    chmodSync(next, 0o600);
    renameSync(next, file);
  } catch (error) {
    throw cannotBeWritten(file, error);
  }
}

const secretsDamaged = (file: string, cause: unknown): StartupError =>
  new StartupError(
    'secrets_damaged',
    `The file ${file} is empty or damaged. Restore it from a backup and start again. New secrets cannot read the existing data.`,
    { cause },
  );

const cannotBeWritten = (file: string, cause: unknown): StartupError =>
  new StartupError(
    'data_dir_unusable',
    `The file ${file} cannot be written (${errorCode(cause) ?? 'unknown error'}). Free disk space or repair its folder, then start again.`,
    { cause },
  );
