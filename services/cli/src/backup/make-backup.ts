/**
 * Makes a folder that a data directory can be restored from, while the gateway runs. The backup is complete or absent.
 */
import {
  chmodSync,
  copyFileSync,
  mkdirSync,
  readdirSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  statfsSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join, relative, resolve } from 'node:path';
import {
  copyEmbeddedStore,
  embeddedStoreBytes,
  openEmbeddedCopy,
  readSchemaVersion,
} from '@tollgate/event-store';
import { type Clock, type Ids, TollgateError, errorCode } from '@tollgate/service-kit';
import { type DataDirectory, flush, release } from '@tollgate/gateway/configuration';
import {
  type BackedUpFile,
  type Manifest,
  eventsName,
  manifestName,
  namesBesideEvents,
  secretNames,
  sha256Of,
} from './manifest.ts';

export interface BackupOptions {
  directory: DataDirectory;
  /** The folder to create. It may exist if it is empty. */
  folder: string;
  withSecrets: boolean;
  /** The person making the backup. */
  by: string;
  clock: Clock;
  ids: Ids;
  signal: AbortSignal;
  onProgress?: (progress: { bytesCopied: number; bytes: number }) => void;
  /** Free bytes on the disk of a folder. */
  roomOf?: (folder: string) => number;
}

export interface Backup extends Manifest {
  folder: string;
  /** Secrets missing from the data directory: the gateway gets them from variables, or has none yet. */
  missingSecrets: string[];
}

/** Room for the manifest and keys, so that a backup never fills the disk. */
const roomBesideBytes = 16 * 1_048_576;

/**
 * @throws TollgateError with one sentence, leaving nothing behind: `backup_folder_invalid`, `backup_folder_not_empty`,
 * `backup_no_room`, or the cause of a failure; the signal's reason if aborted
 */
export async function makeBackup(options: BackupOptions): Promise<Backup> {
  const { directory, ids, roomOf = freeBytes } = options;
  const folder = resolve(options.folder);
  requireFolder(folder, directory.path);
  requireRoom(dirname(folder), embeddedStoreBytes(directory.eventsFile), roomOf);
  const partial = `${folder}.${ids.hex(4)}.partial`;
  try {
    mkdirSync(partial, { mode: 0o700 });
    const { manifest, missingSecrets } = await fill(partial, options);
    moveTo(folder, partial);
    return { ...manifest, folder, missingSecrets };
  } catch (error) {
    rmSync(partial, { recursive: true, force: true });
    throw toBackupFailure(error, folder);
  }
}

function requireFolder(folder: string, dataDir: string): void {
  const parent = dirname(folder);
  if (statSync(parent, { throwIfNoEntry: false })?.isDirectory() !== true)
    throw invalidFolder(folder, `cannot be created: the folder ${parent} does not exist`);
  const place = relative(realpathSync(dataDir), join(realpathSync(parent), basename(folder)));
  if (place !== '..' && !place.startsWith('../'))
    throw invalidFolder(
      folder,
      'is in the data directory and would be lost with it. Name a folder on another disk',
    );
  const there = statSync(folder, { throwIfNoEntry: false });
  if (there === undefined) return;
  if (!there.isDirectory()) throw invalidFolder(folder, 'is not a folder. Name an empty or new folder');
  if (readdirSync(folder).length > 0) throw notEmpty(folder);
}

const invalidFolder = (folder: string, why: string) =>
  new TollgateError('backup_folder_invalid', `${folder} ${why}.`);

const notEmpty = (folder: string) =>
  new TollgateError(
    'backup_folder_not_empty',
    `${folder} is not empty. Nothing was written. Name an empty or new folder.`,
  );

function requireRoom(parent: string, storeBytes: number, roomOf: (folder: string) => number): void {
  const needed = storeBytes + roomBesideBytes;
  const room = roomOf(parent);
  if (room >= needed) return;
  throw new TollgateError(
    'backup_no_room',
    `The disk of ${parent} has room for ${inMegabytes(room)}, and the backup needs ${inMegabytes(needed)}. Nothing was written. Free space or name another disk.`,
  );
}

function freeBytes(folder: string): number {
  const { bavail, bsize } = statfsSync(folder);
  return bavail * bsize;
}

export const inMegabytes = (bytes: number): string =>
  `${Math.ceil(bytes / 1_000_000).toLocaleString('en')} MB`;

async function fill(
  partial: string,
  options: BackupOptions,
): Promise<{ manifest: Manifest; missingSecrets: string[] }> {
  const { directory, withSecrets, by, clock, signal, onProgress } = options;
  const takenAt = new Date(clock.now()).toISOString();
  const to = join(partial, eventsName);
  const copy = await copyEmbeddedStore({
    file: directory.eventsFile,
    to,
    signal,
    ...(onProgress === undefined ? {} : { onProgress }),
  });
  const wanted = namesBesideEvents(withSecrets);
  const copied = wanted.filter((name) => copyIfThere(join(directory.path, name), join(partial, name)));
  const files: BackedUpFile[] = [];
  for (const name of [eventsName, ...copied]) files.push(await describe(partial, name, signal));
  const schemaVersion = await schemaVersionOf(to);
  const about = { release, schemaVersion, takenAt, by, ...copy };
  const manifest: Manifest = {
    kind: 'tollgate-backup',
    version: 1,
    ...about,
    hasSecrets: withSecrets,
    files,
  };
  const file = join(partial, manifestName);
  writeFileSync(file, `${JSON.stringify(manifest, null, 2)}\n`, { mode: 0o600 });
  flush(file);
  flush(partial);
  const missingSecrets = withSecrets ? secretNames.filter((name) => !copied.includes(name)) : [];
  return { manifest, missingSecrets };
}

async function schemaVersionOf(file: string): Promise<number> {
  const copy = openEmbeddedCopy(file);
  try {
    return (await readSchemaVersion(copy)).version;
  } finally {
    await copy.close();
  }
}

function copyIfThere(from: string, to: string): boolean {
  if (statSync(from, { throwIfNoEntry: false }) === undefined) return false;
  copyFileSync(from, to);
  return true;
}

async function describe(folder: string, name: string, signal: AbortSignal): Promise<BackedUpFile> {
  const file = join(folder, name);
  chmodSync(file, 0o600);
  flush(file);
  return {
    name: name as BackedUpFile['name'],
    bytes: statSync(file).size,
    sha256: await sha256Of(file, signal),
  };
}

function moveTo(folder: string, partial: string): void {
  renameSync(partial, folder);
  flush(dirname(folder));
}

function toBackupFailure(error: unknown, folder: string): unknown {
  const code = errorCode(error);
  if (error instanceof TollgateError || code === undefined || !/^E[A-Z]+$/.test(code)) return error;
  // Another program has created the folder in the meantime.
  if (code === 'ENOTEMPTY' || code === 'EEXIST') return notEmpty(folder);
  const why =
    code === 'EBUSY' || code === 'EXDEV'
      ? 'is a mount point. Name a new folder on it'
      : `cannot be written (${code}). Name a folder that this user may create`;
  return new TollgateError('backup_folder_invalid', `${folder} ${why}.`, { cause: error });
}
