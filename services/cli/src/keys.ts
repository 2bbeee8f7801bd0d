/** `key …`: API keys of the teams. */
import type { Environment } from '@tollgate/core';
import { omitUndefined } from '@tollgate/service-kit';
import { type CommandResult, done } from '@tollgate/service-kit/command-line';
import {
  type Scope,
  type Team,
  formatApiKey,
  hashApiKeySecret,
  newApiKey,
  parseApiKey,
} from '@tollgate/teams';
import { keyLines, lastUsesOf, toKeyJson } from './key-table.ts';
import { refused, teamsOf } from './teams.ts';
import type { CommandTools } from './tools.ts';

interface IssueOptions {
  team: string;
  environment: Environment;
  scopes: Scope[];
  requestsPerSecond: number | undefined;
  expires: ((now: number) => number) | undefined;
  networks: string[] | undefined;
}

export async function issueKey(
  tools: CommandTools,
  {
    team,
    environment,
    scopes: granted,
    requestsPerSecond: requestsPerSecondMax,
    expires,
    networks,
  }: IssueOptions,
): Promise<CommandResult> {
  const at = tools.clock.now();
  const key = newApiKey(tools.ids, environment);
  const { keyId } = key;
  const expiresAt = expires?.(at);
  const terms = {
    environment,
    scopes: granted,
    ...omitUndefined({ requestsPerSecondMax, expiresAt, networks }),
  };
  const refusal = await teamsOf(tools).change(team, () => [
    { type: 'IssueKey', at, keyId, ...terms, secretHash: hashApiKeySecret(key.secret) },
  ]);
  if (refusal !== undefined) return refused(team, refusal);
  const until = expiresAt === undefined ? null : new Date(expiresAt).toISOString();
  const shown = formatApiKey(key);
  const text = `A key for ${team}.
  environment  ${environment}
  scopes       ${granted.join(', ')}
  key id       ${keyId}
  expires      ${until ?? 'never'}
  networks     ${networks?.join(', ') ?? 'all'}
  key          ${shown}
Keep the key now: it is not shown again.`;
  return done(text, { team, keyId, ...terms, ...(until === null ? {} : { expiresAt: until }), key: shown });
}

export async function revokeKey(
  tools: CommandTools,
  { team, keyId: given }: { team: string; keyId: string },
): Promise<CommandResult> {
  // A leaked key may be given in full.
  const keyId = parseApiKey(given)?.keyId ?? given;
  const refusal = await teamsOf(tools).change(team, () => [{ type: 'RevokeKey', keyId }]);
  if (refusal !== undefined) return refused(team, refusal);
  return done(`Revoked ${keyId} of ${team}: it is refused within a second.`, { team, keyId });
}

export async function listKeys(
  tools: CommandTools,
  { team: name }: { team: string | undefined },
): Promise<CommandResult> {
  const teams = teamsOf(tools);
  const now = tools.clock.now();
  const shown = name === undefined ? await teams.list() : [await teams.find(name)];
  const found = shown.filter((team): team is Team => team !== undefined);
  if (name !== undefined && found.length === 0) return refused(name, { code: 'team_not_found' });
  const shownKeys = await Promise.all(
    found.map(async (team) => ({ team, lastUses: await lastUsesOf(tools.store, team) })),
  );
  const lines = shownKeys.flatMap(({ team, lastUses }) => [team.name, ...keyLines(team, now, lastUses)]);
  const json = shownKeys.flatMap(({ team, lastUses }) =>
    team.keys.map((key) => ({ team: team.name, ...toKeyJson(key, now, lastUses) })),
  );
  return done(lines.join('\n') || 'There are no teams.', json);
}
