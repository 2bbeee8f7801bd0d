/** `key …`: API keys of the teams. */
import { omitUndefined } from '@tollgate/service-kit';
import {
  argument,
  done,
  option,
  requiredOption,
  text,
  wholeNumber,
} from '@tollgate/service-kit/command-line';
import {
  type Team,
  formatApiKey,
  hashApiKeySecret,
  newApiKey,
  parseApiKey,
  scopes as allScopes,
} from '@tollgate/teams';
import { keyLines, lastUsesOf, toKeyJson } from './key-table.ts';
import * as read from './parameters.ts';
import { refused, teamsOf } from './teams.ts';
import { command } from './tools.ts';

export const keyCommands = [
  command(
    'key issue',
    'issue a key and print it once; two per environment may be active, so that one can replace the other',
    {
      team: read.team,
      environment: read.environmentOf('environment of the key'),
      scopes: requiredOption('scopes', `separated by commas: ${allScopes.join(', ')}`, read.scopeList),
      requestsPerSecond: option('count', 'rate limit instead of the default', wholeNumber(1, 100_000)),
      expires: option('when', '90d, or a day such as 2027-03-31 (its end, UTC)', read.expiry),
      networks: option('networks', 'only from these: 10.20.0.0/16,2001:db8::/32', read.items),
    },
    async (tools, { team, environment, scopes, requestsPerSecond, expires, networks }) => {
      const at = tools.clock.now();
      const key = newApiKey(tools.ids, environment);
      const { keyId } = key;
      const expiresAt = expires?.(at);
      const limits = omitUndefined({ requestsPerSecondMax: requestsPerSecond, expiresAt, networks });
      const terms = { environment, scopes, ...limits };
      const refusal = await teamsOf(tools).change(team, () => [
        { type: 'IssueKey', at, keyId, ...terms, secretHash: hashApiKeySecret(key.secret) },
      ]);
      if (refusal !== undefined) return refused(team, refusal);
      const until = expiresAt === undefined ? null : new Date(expiresAt).toISOString();
      const shown = formatApiKey(key);
      const report = `A key for ${team}.
  environment  ${environment}
  scopes       ${scopes.join(', ')}
  key id       ${keyId}
  expires      ${until ?? 'never'}
  networks     ${networks?.join(', ') ?? 'all'}
  key          ${shown}
Keep the key now: it is not shown again.`;
      const ends = until === null ? {} : { expiresAt: until };
      return done(report, { team, keyId, ...terms, ...ends, key: shown });
    },
  ),
  command(
    'key revoke',
    'revoke a key permanently; takes effect within a second',
    { team: read.team, keyId: argument('keyId', 'its id, or the whole key', text) },
    async (tools, { team, keyId: given }) => {
      // A leaked key may be given in full.
      const keyId = parseApiKey(given)?.keyId ?? given;
      const refusal = await teamsOf(tools).change(team, () => [{ type: 'RevokeKey', keyId }]);
      if (refusal !== undefined) return refused(team, refusal);
      return done(`Revoked ${keyId} of ${team}: it is refused within a second.`, { team, keyId });
    },
  ),
  command(
    'key list',
    'show the keys of a team, or of all',
    { team: read.optionalTeam },
    async (tools, { team: name }) => {
      const teams = teamsOf(tools);
      const now = tools.clock.now();
      const shown = name === undefined ? await teams.list() : [await teams.find(name)];
      const found = shown.filter((team): team is Team => team !== undefined);
      if (name !== undefined && found.length === 0) return refused(name, { code: 'team_not_found' });
      const lines: string[] = [];
      const json: object[] = [];
      for (const team of found) {
        const lastUses = await lastUsesOf(tools.store, team);
        lines.push(team.name, ...keyLines(team, now, lastUses));
        json.push(...team.keys.map((key) => ({ team: team.name, ...toKeyJson(key, now, lastUses) })));
      }
      return done(lines.join('\n') || 'There are no teams.', json);
    },
  ),
];
