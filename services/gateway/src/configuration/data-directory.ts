/** The folder with everything durable of an embedded gateway, and its contents at the start. */
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
import { parseCallbackSecrets } from '@tollgate/provider/callbacks';
import {
  type Ids,
  StartupError,
  errorCode,
  parseDataSecrets,
  lockFile,
  parseWebhookSecrets,
  makeFolder,
} from '@tollgate/service-kit';
import { z } from 'zod';
import { parseInternalSecrets } from './internal-secrets.ts';

/** What a script or a newcomer needs to use the running system. */
export const quickstartSchema = z.object({
  gatewayUrl: z.string(),
  /** Of the demo team; absent if there is none, or it was revoked. */
  apiKey: z.string().exactOptional(),
  callbackUrl: z.string(),
  /** Metrics and health; that of the front door if each service is its own process. */
  metricsUrl: z.string(),
  /** Of the sandbox; absent if the gateway uses an accounts file. */
  paymentServiceUrl: z.string().exactOptional(),
  paymentServiceHttpUrl: z.string().exactOptional(),
  paymentServiceKey: z.string().exactOptional(),
  caFile: z.string().exactOptional(),
  pid: z.int(),
});
export type Quickstart = z.infer<typeof quickstartSchema>;

export type DataDirectory = ReturnType<typeof openDataDirectory>;

/**
 * Creates the folder if it is missing.
 *
 * @param instance distinguishes the files of several gateways on the same folder
 * @param indexDir of the indexes, which are caches. @default `dataDir`
 * @throws StartupError if a folder cannot be written
 */
export function openDataDirectory(dataDir: string, instance?: string, indexDir = dataDir) {
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
    /** The index of a command service that runs apart from the query service. */
    commandIndexFile: own('command-service-index', '.db', indexPath),
    /** The outcome of each webhook. */
    webhooksFile: own('webhooks', '.db', indexPath),
    /** The records of requests. */
    requestsFile: own('requests', '.db', indexPath),
    quickstartFile,
    /**
     * For a local store. Call before opening it, which would create an empty one if it was lost.
     *
     * @throws StartupError if it is missing or empty, and files made from it exist
     */
    requireStore: () => requireStore(eventsFile, [...leftIn(indexPath), ...leftIn(path)]),
    /**
     * Locks an index of this folder for this process: concurrent writers would corrupt it.
     *
     * @throws StartupError `data_dir_in_use`
     */
    lockIndex: (file: string) => lockIndex(file, path),
    /** The file of the last start, or undefined if it is missing or unreadable. */
    readQuickstart: (): Quickstart | undefined =>
      // A further instance continues with the keys of the first one.
      readQuickstartIn(quickstartFile) ?? readQuickstartIn(firstQuickstartFile),
    /** That of the gateway that has no name of its own. */
    readFirstQuickstart: () => readQuickstartIn(firstQuickstartFile),
    /** Replaces the file in one step; only its owner may read it. */
    writeQuickstart: (quickstart: Quickstart) =>
      writePrivately(quickstartFile, `${JSON.stringify(quickstart, null, 2)}\n`),
    // All secrets are created at the first start.
    callbackSecrets: (ids: Ids) => readSecrets('callback-secrets', ids, parseCallbackSecrets),
    internalSecrets: (ids: Ids) => readSecrets('internal-secrets', ids, parseInternalSecrets),
    webhookSecrets: (ids: Ids) => readSecrets('webhook-secrets', ids, parseWebhookSecrets),
    dataSecrets: (ids: Ids) => readSecrets('data-secrets', ids, parseDataSecrets),
  };
}

/** Files that exist only after a store did: indexes of any process, and the data secrets. */
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

/** For a folder on which another process already does this work. */
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
 * Creates a file unless it exists, atomically: of two first starts, both use the same file, and a killed one leaves no partial
 * file.
 */
export function makePrivately(file: string, text: string): void {
  // On a full disk nothing could be written, and nothing has to be.
  if (existsSync(file)) return;
  const own = `${file}.${process.pid}`;
  try {
    // Data under it may become durable earlier, and must not survive a power failure alone.
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
