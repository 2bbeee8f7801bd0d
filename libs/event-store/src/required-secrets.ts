/** The data secrets that a store was written with: a process without them could read and recognize nothing in it. */
import { createHmac, timingSafeEqual } from 'node:crypto';
import type { EventStore } from './event-store.ts';
import {
  type Clock,
  type DataSecrets,
  type Ids,
  type KeyedSecret,
  StartupError,
  deriveKey,
} from '@tollgate/service-kit';
import { z } from 'zod';

const stream = 'data-secrets';
const usedSchema = z.object({
  kid: z.string(),
  /** Identifies the secret of this name, and reveals nothing else about it. */
  check: z.string(),
});

const retiredSchema = z.object({ kid: z.string() });

/**
 * Checks that everything in the store can be read with these secrets, and records the one in use from now on.
 *
 * @throws StartupError, one sentence, if a secret is missing or different; StoreUnavailable
 */
export async function requireDataSecrets(
  { store, clock, ids }: { store: EventStore; clock: Clock; ids: Ids },
  secrets: DataSecrets,
): Promise<void> {
  const [current] = secrets;
  for (;;) {
    const { used, revision } = await checkUsed(store, secrets);
    if (used.some(({ kid }) => kid === current.kid)) return;
    const data = { kid: current.kid, check: checkOf(current).toString('base64url') };
    const metadata = { recordedAt: clock.now() };
    const event = { id: ids.uuid(), type: 'DataSecretUsed', data, metadata };
    // If several processes start with different secrets, the later ones find the record of the first.
    if ((await store.append(stream, [event], revision ?? 'no-stream')).kind === 'appended') return;
  }
}

type UsedSecret = z.infer<typeof usedSchema>;

/** Required: used, and not retired since. */
async function readUsed(
  store: Pick<EventStore, 'read'>,
): Promise<{ used: readonly UsedSecret[]; revision: number | undefined }> {
  const used = new Map<string, UsedSecret>();
  let last: number | undefined;
  for await (const { type, data, revision } of store.read(stream)) {
    last = revision;
    if (type === 'DataSecretRetired') used.delete(retiredSchema.parse(data).kid);
    else used.set(usedSchema.parse(data).kid, usedSchema.parse(data));
  }
  return { used: [...used.values()], revision: last };
}

/** Nothing is encrypted under this secret any longer: no process needs it from its next start. @throws StoreUnavailable */
export async function retireDataSecret(
  { store, clock, ids }: { store: EventStore; clock: Clock; ids: Ids },
  kid: string,
): Promise<void> {
  const metadata = { recordedAt: clock.now() };
  const event = { id: ids.uuid(), type: 'DataSecretRetired', data: { kid }, metadata };
  await store.append(stream, [event], 'any');
}

/**
 * Changes nothing. @returns the names of all data secrets that the store needs
 *
 * @throws StartupError, one sentence, if a secret is missing or different; StoreUnavailable
 */
export const checkDataSecrets = async (
  store: Pick<EventStore, 'read'>,
  secrets: DataSecrets,
): Promise<string[]> => (await checkUsed(store, secrets)).used.map(({ kid }) => kid);

async function checkUsed(store: Pick<EventStore, 'read'>, secrets: DataSecrets) {
  const { used, revision } = await readUsed(store);
  for (const each of used)
    requireSame(
      each,
      secrets.find(({ kid }) => kid === each.kid),
    );
  return { used, revision };
}

function requireSame({ kid, check }: UsedSecret, secret: KeyedSecret | undefined): void {
  const where = 'DATA_SECRETS, or the file data-secrets of the data directory,';
  if (secret === undefined)
    throw new StartupError(
      'data_secret_missing',
      `The event store was written with the data secret ${kid}, and ${where} lacks it. Add it after the secret for new data.`,
    );
  const noted = Buffer.from(check, 'base64url');
  const own = checkOf(secret);
  if (noted.length !== own.length || !timingSafeEqual(noted, own))
    throw new StartupError(
      'data_secret_differs',
      `The data secret ${kid} in ${where} differs from the one that the event store was written with. All processes need the same secret. Give a new secret a new name.`,
    );
}

const checkOf = ({ secret }: KeyedSecret): Buffer =>
  createHmac('sha256', deriveKey(secret, 'check')).update('tollgate').digest();
