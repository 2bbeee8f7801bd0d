/** Keys as the command line shows them: never with their hash. */
import { type Team, type TeamKey, isExpired } from '@tollgate/teams';

const toTime = (at: number): string => new Date(at).toISOString();

export const toKeyJson = (key: TeamKey, now: number) => ({
  ...{ keyId: key.keyId, environment: key.environment, scopes: key.scopes },
  requestsPerSecondMax: key.requestsPerSecondMax ?? null,
  expiresAt: key.expiresAt === undefined ? null : toTime(key.expiresAt),
  networks: key.networks ?? null,
  active: key.active && !isExpired(key, now),
});

export const keyLines = ({ keys }: Pick<Team, 'keys'>, now: number): string[] =>
  keys.length === 0 ? ['  no keys'] : keys.map((key) => toLine(key, now));

function toLine(key: TeamKey, now: number): string {
  const { keyId, environment, scopes, requestsPerSecondMax, expiresAt, networks } = key;
  const terms = [
    scopes.join(','),
    requestsPerSecondMax === undefined ? [] : `${requestsPerSecondMax} requests per second`,
    networks === undefined ? [] : `from ${networks.join(' ')}`,
    expiresAt === undefined ? [] : `until ${toTime(expiresAt)}`,
  ].flat();
  return `  ${keyId.padEnd(14)} ${environment.padEnd(10)} ${stateOf(key, now)} ${terms.join(', ')}`;
}

function stateOf(key: TeamKey, now: number): string {
  if (!key.active) return 'revoked';
  return isExpired(key, now) ? 'expired' : 'active ';
}
