/** `key issue`, `key revoke`, `key list`. */
import type { Environment } from '@tollgate/payment-domain';
import {
  type Scope,
  type Team,
  requestsPerSecondSchema,
  scopeSchema,
  scopes,
  formatApiKey,
  hashApiKeySecret,
  parseApiKey,
  type Teams,
  newApiKey,
} from '@tollgate/teams';
import { type Ids, given } from '@tollgate/service-kit';
import { type Command, InvalidArgumentError } from 'commander';
import { keyLines, toKeyJson } from './key-table.ts';
import { type CommandResult, type RunCommand, environmentOption } from './command.ts';
import { refused, teamArgument, teamsOf } from './team-commands.ts';

export function registerKeyCommands(program: Command, run: RunCommand): void {
  const key = program
    .command('key')
    .description('API keys of the teams; a new or revoked one counts within a second');
  registerIssue(key, run);
  key
    .command('revoke')
    .description('take a key away for good')
    .addArgument(teamArgument('<team>', 'whose key it is'))
    .argument('<keyId>', 'its id, or the whole key')
    .action((team: string, text: string) => run((tools) => revokeKey(teamsOf(tools), team, text)));
  key
    .command('list')
    .description('show the keys of a team, or of all')
    .addArgument(teamArgument('[team]', 'whose keys'))
    .action((team?: string) => run((tools) => listKeys(teamsOf(tools), team)));
}

interface IssueOptions {
  environment: Environment;
  scopes: Scope[];
  requestsPerSecond?: number;
}

function registerIssue(key: Command, run: RunCommand): void {
  key
    .command('issue')
    .description(
      'issue a key and print it, this once; two per environment may be active, so that one replaces the other',
    )
    .addArgument(teamArgument('<team>', 'who gets it'))
    .addOption(environmentOption('where it is valid'))
    .requiredOption(
      '--scopes <scopes>',
      `what it may do, separated by commas: ${scopes.join(', ')}`,
      parseScopes,
    )
    .option('--requests-per-second <count>', 'a limit of its own, in place of the one for all', parseCount)
    .action((team: string, options: IssueOptions) =>
      run((tools) => issueKey({ teams: teamsOf(tools), ids: tools.ids }, team, options)),
    );
}

function parseScopes(text: string): Scope[] {
  const named = new Set(text.split(',').map((scope) => scope.trim()));
  const result = scopeSchema.array().safeParse([...named]);
  if (!result.success) throw new InvalidArgumentError(`Allowed are ${scopes.join(', ')}.`);
  return result.data;
}

function parseCount(text: string): number {
  // Only digits: to Number, `1e3`, ` 5 ` and nothing at all are numbers, too.
  const result = requestsPerSecondSchema.safeParse(/^\d+$/.test(text) ? Number(text) : undefined);
  if (!result.success) throw new InvalidArgumentError('It must be a whole number from 1 to 100000.');
  return result.data;
}

async function issueKey(
  { teams, ids }: { teams: Teams; ids: Ids },
  team: string,
  { environment, scopes: granted, requestsPerSecond: requestsPerSecondMax }: IssueOptions,
): Promise<CommandResult> {
  const key = newApiKey(ids, environment);
  const { keyId } = key;
  const terms = { environment, scopes: granted, ...given({ requestsPerSecondMax }) };
  const refusal = await teams.change(team, () => [
    { type: 'IssueKey', keyId, ...terms, secretHash: hashApiKeySecret(key.secret) },
  ]);
  if (refusal !== undefined) return refused(team, refusal);
  const shown = formatApiKey(key);
  const text = `A key for ${team}.
  environment  ${environment}
  scopes       ${granted.join(', ')}
  key id       ${keyId}
  key          ${shown}
Keep the key now: it is not shown again.`;
  return { kind: 'done', text, json: { team, keyId, ...terms, key: shown } };
}

async function revokeKey(teams: Teams, team: string, text: string): Promise<CommandResult> {
  // A key that was found where it should not be is whole.
  const keyId = parseApiKey(text)?.keyId ?? text;
  const refusal = await teams.change(team, () => [{ type: 'RevokeKey', keyId }]);
  if (refusal !== undefined) return refused(team, refusal);
  const notice = `Revoked ${keyId} of ${team}: it is refused within a second.`;
  return { kind: 'done', text: notice, json: { team, keyId } };
}

async function listKeys(teams: Teams, name: string | undefined): Promise<CommandResult> {
  const shown = name === undefined ? await teams.list() : [await teams.find(name)];
  const found = shown.filter((team): team is Team => team !== undefined);
  if (name !== undefined && found.length === 0) return refused(name, { code: 'team_not_found' });
  const lines = found.flatMap((team) => [team.name, ...keyLines(team)]);
  const json = found.flatMap((team) => team.keys.map((key) => ({ team: team.name, ...toKeyJson(key) })));
  return { kind: 'done', text: lines.join('\n') || 'There is no team.', json };
}
