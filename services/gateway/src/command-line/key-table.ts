/** Keys as the command line shows them: never with their hash. */
import type { Team, TeamKey } from '@tollgate/teams';

export const toKeyJson = ({ keyId, environment, scopes, requestsPerSecondMax, active }: TeamKey) => ({
  ...{ keyId, environment, scopes },
  requestsPerSecondMax: requestsPerSecondMax ?? null,
  active,
});

export const keyLines = ({ keys }: Pick<Team, 'keys'>): string[] =>
  keys.length === 0 ? ['  no keys'] : keys.map(toLine);

function toLine({ keyId, environment, scopes, requestsPerSecondMax, active }: TeamKey): string {
  const limit = requestsPerSecondMax === undefined ? '' : `, ${requestsPerSecondMax} requests per second`;
  const state = active ? 'active ' : 'revoked';
  return `  ${keyId.padEnd(14)} ${environment.padEnd(10)} ${state} ${scopes.join(',')}${limit}`;
}
