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
import { omitUndefined, dayMs } from '@tollgate/service-kit';
import { type Command, InvalidArgumentError } from 'commander';
import { parseDay } from './parse-time.ts';
import { keyLines, lastUsesOf, toKeyJson } from './key-table.ts';
import { type CommandResult, type CommandTools, type RunCommand, environmentOption } from './command.ts';
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
    .action((team?: string) => run((tools) => listKeys(tools, team)));
}

interface IssueOptions {
  environment: Environment;
  scopes: Scope[];
  requestsPerSecond?: number;
  expires?: Expiry;
  networks?: string[];
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
    .option(
      '--expires <when>',
      'until when it may be used: 90d, or a day such as 2027-03-31 (its end, UTC)',
      parseExpiry,
    )
    .option(
      '--networks <networks>',
      'from where it may be used, separated by commas: 10.20.0.0/16,2001:db8::/32',
      parseList,
    )
    .action((team: string, options: IssueOptions) => run((tools) => issueKey(tools, team, options)));
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

/** From the time of the call on. */
type Expiry = (now: number) => number;

function parseExpiry(text: string): Expiry {
  const [, days] = /^(\d{1,4})d$/.exec(text) ?? [];
  if (days !== undefined && Number(days) > 0) return (now) => now + Number(days) * dayMs;
  const day = Date.parse(parseDay(text));
  return () => day + dayMs;
}

const parseList = (text: string): string[] => text.split(',').map((each) => each.trim());

async function issueKey(
  tools: CommandTools,
  team: string,
  { environment, scopes: granted, requestsPerSecond: requestsPerSecondMax, expires, networks }: IssueOptions,
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
  return {
    kind: 'done',
    text,
    json: { team, keyId, ...terms, ...(until === null ? {} : { expiresAt: until }), key: shown },
  };
}

async function revokeKey(teams: Teams, team: string, text: string): Promise<CommandResult> {
  // A key that was found where it should not be is whole.
  const keyId = parseApiKey(text)?.keyId ?? text;
  const refusal = await teams.change(team, () => [{ type: 'RevokeKey', keyId }]);
  if (refusal !== undefined) return refused(team, refusal);
  const notice = `Revoked ${keyId} of ${team}: it is refused within a second.`;
  return { kind: 'done', text: notice, json: { team, keyId } };
}

async function listKeys(tools: CommandTools, name: string | undefined): Promise<CommandResult> {
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
  return { kind: 'done', text: lines.join('\n') || 'There is no team.', json };
}
