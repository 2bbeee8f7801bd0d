/** The folder that holds everything durable of the embedded way of running, and what is read from it at the start. */
import {
  accessSync,
  chmodSync,
  constants,
  mkdirSync,
  readFileSync,
  renameSync,
  writeFileSync,
} from 'node:fs';
import { join, resolve } from 'node:path';
import {
  type CallbackSecret,
  type Ids,
  StartupError,
  errorCode,
  parseCallbackSecrets,
} from '@tollgate/service-kit';
import { z } from 'zod';

/** What a script or a newcomer needs to drive the running system. */
export const quickstartSchema = z.object({
  gatewayUrl: z.string(),
  apiKey: z.string(),
  callbackUrl: z.string(),
  paymentServiceUrl: z.string(),
  paymentServiceHttpUrl: z.string(),
  paymentServiceKey: z.string(),
  caFile: z.string(),
  pid: z.int(),
});
export type Quickstart = z.infer<typeof quickstartSchema>;

export interface DataDirectory {
  path: string;
  eventsFile: string;
  indexFile: string;
  quickstartFile: string;
  /** The file of the last start, or undefined where there is none that can be read. */
  readQuickstart(): Quickstart | undefined;
  /** Replaces the file in one step; only its owner may read it. */
  writeQuickstart(quickstart: Quickstart): void;
  /** The secrets of callback addresses, made at the first start. */
  callbackSecrets(ids: Ids): readonly CallbackSecret[];
}

/** Makes the folder where it is missing. @throws StartupError where it cannot be written. */
export function openDataDirectory(dataDir: string): DataDirectory {
  const path = resolve(dataDir);
  requireWritable(path);
  const quickstartFile = join(path, 'quickstart.json');
  const secretsFile = join(path, 'callback-secrets');
  return {
    path,
    eventsFile: join(path, 'events.db'),
    indexFile: join(path, 'index.db'),
    quickstartFile,
    readQuickstart() {
      const result = quickstartSchema.safeParse(readJson(quickstartFile));
      return result.success ? result.data : undefined;
    },
    writeQuickstart(quickstart) {
      writePrivately(quickstartFile, `${JSON.stringify(quickstart, null, 2)}\n`);
    },
    callbackSecrets(ids) {
      makePrivately(secretsFile, `k1:${ids.hex(32)}\n`);
      return parseCallbackSecrets(readFileSync(secretsFile, 'utf8').trim());
    },
  };
}

function requireWritable(path: string): void {
  try {
    mkdirSync(path, { recursive: true, mode: 0o700 });
    accessSync(path, constants.R_OK | constants.W_OK | constants.X_OK);
  } catch (error) {
    const reason = errorCode(error) ?? 'unknown error';
    throw new StartupError(
      'data_dir_unusable',
      `The data directory ${path} cannot be written (${reason}). Set TOLLGATE_DATA_DIR to a folder that this user may write, and start again.`,
      { cause: error },
    );
  }
}

function readJson(file: string): unknown {
  try {
    return JSON.parse(readFileSync(file, 'utf8'));
  } catch {
    return undefined;
  }
}

/** Makes a file unless there is one: of two first starts at once, both go on with what one of them has made. */
function makePrivately(file: string, text: string): void {
  try {
    writeFileSync(file, text, { mode: 0o600, flag: 'wx' });
  } catch (error) {
    if (errorCode(error) !== 'EEXIST') throw error;
  }
}

function writePrivately(file: string, text: string): void {
  const next = `${file}.next`;
  writeFileSync(next, text, { mode: 0o600 });
  chmodSync(next, 0o600);
  renameSync(next, file);
}
