/** `backup.json`: the content and time of a backup. Written last, so a folder without it is not a backup. */
import { createHash } from 'node:crypto';
import { createReadStream, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { TollgateError } from '@tollgate/service-kit';
import { z } from 'zod';

export const manifestName = 'backup.json';
export const eventsName = 'events.db';
/** The public key for verifying the events of teams; not secret. */
const publicKeysName = 'operator-signing.pub';
/** Files created by a data directory's first start that cannot be recreated. */
export const secretNames = [
  'callback-secrets',
  'webhook-secrets',
  'data-secrets',
  'operator-signing.key',
] as const;
export const namesBesideEvents = (withSecrets: boolean): readonly string[] => [
  publicKeysName,
  ...(withSecrets ? secretNames : []),
];

const fileSchema = z.object({
  // Any other name could point outside the folder.
  name: z.enum([eventsName, publicKeysName, ...secretNames]),
  bytes: z.int().min(0),
  sha256: z.string().regex(/^[0-9a-f]{64}$/),
});
export type BackedUpFile = z.infer<typeof fileSchema>;

const manifestSchema = z.object({
  kind: z.literal('tollgate-backup'),
  version: z.literal(1),
  /** The release that made the backup. */
  release: z.string(),
  /** Schema version that the restoring release must be able to read. */
  schemaVersion: z.int().min(1),
  /** The backup contains everything acknowledged before this time. */
  takenAt: z.iso.datetime(),
  /** The person who made it. */
  by: z.string(),
  /** Position of the last event; empty if there is none. */
  position: z.string(),
  events: z.int().min(0),
  hasSecrets: z.boolean(),
  files: z.array(fileSchema).min(1),
});
export type Manifest = z.infer<typeof manifestSchema>;

/** @throws TollgateError `backup_missing`, `backup_manifest_invalid` */
export function readManifest(folder: string): Manifest {
  const file = join(folder, manifestName);
  if (statSync(file, { throwIfNoEntry: false })?.isFile() !== true)
    throw new TollgateError(
      'backup_missing',
      `There is no backup in ${folder}: a complete one has a file ${manifestName}.`,
    );
  const parsed = manifestSchema.safeParse(parseJson(readFileSync(file, 'utf8')));
  if (!parsed.success) {
    const { path = [] } = parsed.error.issues[0] ?? {};
    const where = path.length === 0 ? '' : ` (${path.join('.')})`;
    throw new TollgateError(
      'backup_manifest_invalid',
      `${file} was not written by this release of tollgate backup${where}: it is damaged, or newer.`,
    );
  }
  return parsed.data;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

export async function sha256Of(file: string, signal: AbortSignal): Promise<string> {
  const hash = createHash('sha256');
  await pipeline(createReadStream(file), hash, { signal });
  return hash.digest('hex');
}
