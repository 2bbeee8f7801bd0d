/** `operator link|token`: what a person who operates the gateway signs in to the console with, or calls the API with. */
import { signInAddress } from '@tollgate/console';
import { StartupError } from '@tollgate/service-kit';
import {
  type Operator,
  type OperatorRole,
  createOperatorCredentials,
  createSecurityLog,
  operatorRoles,
} from '@tollgate/teams';
import { type Command, InvalidArgumentError, Option } from 'commander';
import type { CommandResult, CommandTools, RunCommand } from './command.ts';

interface LinkOptions {
  role: OperatorRole;
  url?: string;
}

interface TokenOptions {
  role: OperatorRole;
  hours: number;
}

const hoursMax = 24 * 31;

export function registerOperatorCommands(program: Command, run: RunCommand): void {
  const operator = program.command('operator').description('people who operate the gateway');
  const role = () =>
    new Option('--role <role>', 'what the person may do').choices(operatorRoles).makeOptionMandatory();
  operator
    .command('link')
    .description('print a link that signs the person (--as) in to the console, once, within 15 minutes')
    .addOption(role())
    .option('--url <url>', 'where the gateway is reached, if not where quickstart.json says', parseOrigin)
    .action((options: LinkOptions) => run((tools) => printLink(tools, options)));
  operator
    .command('token')
    .description('print a credential with which the person (--as) calls the API in place of a key')
    .addOption(role())
    .option('--hours <hours>', 'how long it counts', parseHours, 8)
    .action((options: TokenOptions) => run((tools) => printToken(tools, options)));
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

async function printLink(tools: CommandTools, { role, url }: LinkOptions): Promise<CommandResult> {
  const gatewayUrl = url ?? tools.directory.readQuickstart()?.gatewayUrl;
  if (gatewayUrl === undefined)
    throw new StartupError('url_missing', 'Where the gateway is reached is not known here: give --url.');
  await record(tools, 'operator link', { role });
  const link = signInAddress(credentialsOf(tools), gatewayUrl, operatorOf(tools, role));
  return { kind: 'done', text: link, json: { link } };
}

async function printToken(tools: CommandTools, { role, hours }: TokenOptions): Promise<CommandResult> {
  await record(tools, 'operator token', { role, hours });
  const token = credentialsOf(tools).issue(operatorOf(tools, role), 'api', hours * 3_600_000);
  return { kind: 'done', text: token, json: { token } };
}

const operatorOf = ({ person: { name, source } }: CommandTools, role: OperatorRole): Operator => ({
  ...{ person: name, source, role },
});

const credentialsOf = ({ internalSecrets, directory, clock, ids }: CommandTools) =>
  createOperatorCredentials(internalSecrets?.() ?? directory.internalSecrets(ids), { clock, ids });

const record = (tools: CommandTools, command: string, detail: Record<string, unknown>): Promise<void> =>
  createSecurityLog(tools).record([
    { event: { type: 'OperatorActed', data: { command, detail } }, actor: tools.person },
  ]);
