/** `backup.json`: what a backup holds, and as of when. Written last, so that a folder without it is no backup. */
import { createHash } from 'node:crypto';
import { createReadStream, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { TollgateError } from '@tollgate/service-kit';
import { z } from 'zod';

export const manifestName = 'backup.json';
export const eventsName = 'events.db';
/** Checks the events of teams, and is no secret. */
const publicKeysName = 'operator-signing.pub';
/** Files that a data directory creates at its first start, and that cannot be recreated. */
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
  // Anything else would lead out of the folder.
  name: z.enum([eventsName, publicKeysName, ...secretNames]),
  bytes: z.int().min(0),
  sha256: z.string().regex(/^[0-9a-f]{64}$/),
});
export type BackedUpFile = z.infer<typeof fileSchema>;

const manifestSchema = z.object({
  kind: z.literal('tollgate-backup'),
  version: z.literal(1),
  /** That made it. */
  release: z.string(),
  /** The release that restores it must read this version. */
  schemaVersion: z.int().min(1),
  /** What was acknowledged before is in it. */
  takenAt: z.iso.datetime(),
  /** Who made it. */
  by: z.string(),
  /** Of the last event; empty where there is none. */
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
