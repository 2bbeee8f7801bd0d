/** `operator link|token|list|revoke`: what a person who operates the gateway signs in to the console with, or calls the API with. */
import { signInAddress } from '@tollgate/console';
import { StartupError, TollgateError } from '@tollgate/service-kit';
import {
  type Grant,
  type Operator,
  type OperatorRole,
  createCredentialRegister,
  formatGrants,
  grantsSchema,
  operatorRoles,
  toGrant,
} from '@tollgate/teams';
import { type Command, InvalidArgumentError, Option } from 'commander';
import type { CommandResult, CommandTools, RunCommand } from './command.ts';
import { registerCredentialCommands } from './credential-commands.ts';
import { credentialsOf, record } from './operator-tools.ts';

interface GrantOptions {
  role: OperatorRole;
  teams: string;
  environments: string;
}

interface LinkOptions extends GrantOptions {
  url?: string;
}

interface TokenOptions extends GrantOptions {
  hours: number;
}

const hoursMax = 24 * 31;

export function registerOperatorCommands(program: Command, run: RunCommand): void {
  const operator = program.command('operator').description('people who operate the gateway');
  const granting = (command: Command) =>
    command
      .addOption(
        new Option('--role <role>', 'what the person may do').choices(operatorRoles).makeOptionMandatory(),
      )
      .option('--teams <teams>', 'in which teams: names separated by commas, * for all', '*')
      .option('--environments <environments>', 'in which environments: sandbox, production, * for both', '*');
  granting(operator.command('link'))
    .description('print a link that signs the person (--as) in to the console, once, within 15 minutes')
    .option('--url <url>', 'where the gateway is reached, if not where quickstart.json says', parseOrigin)
    .action((options: LinkOptions) => run((tools) => printLink(tools, options)));
  granting(operator.command('token'))
    .description('print a credential with which the person (--as) calls the API in place of a key')
    .option('--hours <hours>', 'how long it counts', parseHours, 8)
    .action((options: TokenOptions) => run((tools) => printToken(tools, options)));
  registerCredentialCommands(operator, run);
}

function parseOrigin(text: string): string {
  const url = URL.parse(text);
  if (url !== null && /^https?:$/.test(url.protocol) && url.href === `${url.origin}/`) return url.origin;
  throw new InvalidArgumentError('It must be an http or https URL without a path.');
}

function parseHours(text: string): number {
  const hours = Number(text);
  if (Number.isInteger(hours) && hours >= 1 && hours <= hoursMax) return hours;
  throw new InvalidArgumentError(`It must be a whole number of hours from 1 to ${hoursMax}.`);
}

async function printLink(tools: CommandTools, options: LinkOptions): Promise<CommandResult> {
  const gatewayUrl = options.url ?? tools.directory.readQuickstart()?.gatewayUrl;
  if (gatewayUrl === undefined)
    throw new StartupError('url_missing', 'Where the gateway is reached is not known here: give --url.');
  const operator = operatorOf(tools, options);
  await record(tools, 'operator link', { role: formatGrants(operator.grants) });
  const link = signInAddress(credentialsOf(tools), gatewayUrl, operator);
  return { kind: 'done', text: link, json: { link } };
}

async function printToken(tools: CommandTools, options: TokenOptions): Promise<CommandResult> {
  const { hours } = options;
  const operator = operatorOf(tools, options);
  const credentials = credentialsOf(tools);
  const claims = credentials.newClaims(operator, 'api', hours * 3_600_000);
  const detail = { role: formatGrants(operator.grants), hours, credentialId: claims.id };
  await record(tools, 'operator token', detail);
  if (!(await createCredentialRegister({ ...tools, credentials }).add(claims)))
    throw new TollgateError(
      'too_many_credentials',
      'The person has too many tokens and sessions. Revoke some of them first (operator list, operator revoke).',
    );
  const token = credentials.seal(claims);
  return { kind: 'done', text: token, json: { token, id: claims.id } };
}

function operatorOf({ person: { name, source } }: CommandTools, options: GrantOptions): Operator {
  const grants = grantsSchema.safeParse([grantIn(options)]);
  if (!grants.success) throw wrong(`--teams ${grants.error.issues[0]?.message ?? ''}.`);
  return { person: name, source, grants: grants.data };
}

function grantIn({ role, teams, environments }: GrantOptions): Grant {
  try {
    return toGrant(role, teams, environments);
  } catch (error) {
    throw error instanceof RangeError ? wrong(error.message) : error;
  }
}

const wrong = (message: string) => new StartupError('invalid_arguments', message);
