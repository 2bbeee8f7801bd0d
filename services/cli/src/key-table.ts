/** API keys in the command line's output, never with their hash. */
import type { EventStore } from '@tollgate/event-store';
import { type Team, type TeamKey, isExpired, lastUseOf } from '@tollgate/teams';

const toTime = (at: number): string => new Date(at).toISOString();

/** Last use of each key by id, rounded down to the hour. */
export type LastUses = ReadonlyMap<string, number>;

export async function lastUsesOf(store: Pick<EventStore, 'read'>, { name, keys }: Team): Promise<LastUses> {
  const uses = await Promise.all(keys.map(({ keyId }) => lastUseOf(store, { team: name, keyId })));
  return new Map(
    keys.flatMap(({ keyId }, place) => {
      const at = uses[place];
      return at === undefined ? [] : [[keyId, at] as const];
    }),
  );
}

export const toKeyJson = (key: TeamKey, now: number, lastUses: LastUses) => ({
  keyId: key.keyId,
  environment: key.environment,
  scopes: key.scopes,
  requestsPerSecondMax: key.requestsPerSecondMax ?? null,
  expiresAt: key.expiresAt === undefined ? null : toTime(key.expiresAt),
  networks: key.networks ?? null,
  active: key.active && !isExpired(key, now),
  lastUsedAt: toHour(lastUses.get(key.keyId)) ?? null,
});

const toHour = (at: number | undefined): string | undefined =>
  at === undefined ? undefined : toTime(at).replace(':00.000Z', 'Z');

export const keyLines = ({ keys }: Pick<Team, 'keys'>, now: number, lastUses: LastUses): string[] =>
  keys.length === 0 ? ['  no keys'] : keys.map((key) => toLine(key, now, lastUses));

function toLine(key: TeamKey, now: number, lastUses: LastUses): string {
  const { keyId, environment, scopes, requestsPerSecondMax, expiresAt, networks } = key;
  const terms = [
    scopes.join(','),
    requestsPerSecondMax === undefined ? [] : `${requestsPerSecondMax} requests per second`,
    networks === undefined ? [] : `from ${networks.join(' ')}`,
    expiresAt === undefined ? [] : `until ${toTime(expiresAt)}`,
    `used ${toHour(lastUses.get(keyId)) ?? 'never'}`,
  ].flat();
  return `  ${keyId.padEnd(14)} ${environment.padEnd(10)} ${stateOf(key, now)} ${terms.join(', ')}`;
}

function stateOf(key: TeamKey, now: number): string {
  if (!key.active) return 'revoked';
  return isExpired(key, now) ? 'expired' : 'active ';
}
