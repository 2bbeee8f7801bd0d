/** `webhook secret`, `webhook rotate`, `webhook list`, `webhook replay`. */
import {
  type Webhook,
  type ReplayRefusal,
  createWebhookJournal,
  replaysMax,
  toPublicWebhook,
} from '@tollgate/notifier';
import type { Environment } from '@tollgate/payment-domain';
import { normaliseOrigin, webhookSecretVersions } from '@tollgate/teams';
import { omitUndefined, webhookSecretsOf, dayMs } from '@tollgate/service-kit';
import { Argument, type Command, InvalidArgumentError, Option } from 'commander';
import { recordAction } from './audit-commands.ts';
import { type CommandResult, type CommandTools, type RunCommand, environmentOption } from './command.ts';
import { refused, teamArgument, teamsOf } from './team-commands.ts';

export function registerWebhookCommands(program: Command, run: RunCommand): void {
  const webhook = program
    .command('webhook')
    .description('signed notifications to teams about their payments and payouts');
  webhook
    .command('secret')
    .description('print the secret that a team verifies its webhooks with (Standard Webhooks)')
    .addArgument(teamArgument('<team>', 'who verifies'))
    .addOption(environmentOption('of the payments and payouts'))
    .option(
      '--endpoint <origin>',
      'of the endpoints at one origin, where that was rotated alone',
      parseEndpoint,
    )
    .action((team: string, options: SecretOptions) => run((tools) => showSecrets(tools, team, options)));
  webhook
    .command('rotate')
    .description(
      'give a team a new secret, of all its endpoints or of those at one origin;\n' +
        'for a while webhooks carry the signatures of both secrets, so that receivers can change over',
    )
    .addArgument(teamArgument('<team>', 'who verifies'))
    .addOption(environmentOption('of the payments and payouts'))
    .option(
      '--endpoint <origin>',
      'only of the endpoints at this origin, such as https://shop.example',
      parseEndpoint,
    )
    .addOption(
      new Option('--overlap <days>', 'how long both sign; 0d where the former secret is known to others')
        .argParser(parseOverlap)
        .default(parseOverlap('7d'), '7d'),
    )
    .action((team: string, options: RotateOptions) => run((tools) => rotate(tools, team, options)));
  webhook
    .command('list')
    .description('show the webhooks of a payment or payout, with every delivery attempt')
    .addArgument(subjectArgument())
    .action((token: string) => run((tools) => listWebhooks(tools, token)));
  webhook
    .command('replay')
    .description('deliver the webhooks of a payment or payout again')
    .addArgument(subjectArgument())
    .option('--id <id>', 'only this one')
    .action((token: string, { id }: { id?: string }) => run((tools) => replay(tools, token, id)));
}

interface SecretOptions {
  environment: Environment;
  endpoint?: string;
}

interface RotateOptions extends SecretOptions {
  /** Milliseconds. */
  overlap: number;
}

function parseEndpoint(text: string): string {
  const origin = normaliseOrigin(text);
  if (origin === undefined || origin.endsWith(':*'))
    throw new InvalidArgumentError('It must be an origin such as https://shop.example.');
  return origin;
}

function parseOverlap(text: string): number {
  const [, days] = /^(\d{1,2})d$/.exec(text) ?? [];
  if (days === undefined) throw new InvalidArgumentError('It must be a number of days from 0d to 99d.');
  return Number(days) * dayMs;
}

const subjectArgument = (): Argument =>
  new Argument('<token>', 'the token of the payment or payout').argParser((text: string) => {
    if (!/^[A-Za-z0-9_-]{1,128}$/.test(text)) throw new InvalidArgumentError('It is not a token.');
    return text;
  });

/** Printing them is on record: anyone who has one can make webhooks that the team believes. */
async function showSecrets(
  tools: CommandTools,
  team: string,
  { environment, endpoint }: SecretOptions,
): Promise<CommandResult> {
  // Nobody's webhooks would ever be signed with it.
  if ((await teamsOf(tools).find(team)) === undefined) return refused(team, { code: 'team_not_found' });
  await recordAction(tools, 'webhook secret', { team, environment, ...omitUndefined({ endpoint }) });
  // Only the secret itself, so that it can be handed on by a pipe; of several, the first is the one to use from now on.
  const secrets = await secretsOf(tools, team, { environment, endpoint });
  return {
    kind: 'done',
    text: secrets.join('\n'),
    json: { team, environment, ...omitUndefined({ endpoint }), secrets },
  };
}

async function secretsOf(
  tools: CommandTools,
  team: string,
  { environment, endpoint }: { environment: Environment; endpoint: string | undefined },
): Promise<string[]> {
  const rotations = (await teamsOf(tools).find(team))?.webhookRotations ?? [];
  const versions = webhookSecretVersions(rotations, { environment, origin: endpoint }, tools.clock.now());
  const secrets = webhookSecretsOf(tools.webhookSecrets(), environment, team, versions);
  return secrets.map((secret) => secret.reveal());
}

async function rotate(
  tools: CommandTools,
  team: string,
  { environment, endpoint, overlap }: RotateOptions,
): Promise<CommandResult> {
  const formerUntil = tools.clock.now() + overlap;
  const terms = { environment, formerUntil, ...omitUndefined({ origin: endpoint }) };
  const refusal = await teamsOf(tools).change(team, () => [{ type: 'RotateWebhookSecret', ...terms }]);
  if (refusal !== undefined) return refused(team, refusal);
  const until = new Date(formerUntil).toISOString();
  const option = endpoint === undefined ? '' : ` --endpoint ${endpoint}`;
  const text = `Rotated. Webhooks carry the signature of the former secret, too, until ${until}.
The new one: webhook secret ${team} --environment ${environment}${option}`;
  return {
    kind: 'done',
    text,
    json: { team, environment, ...omitUndefined({ endpoint }), formerUntil: until },
  };
}

async function listWebhooks(tools: CommandTools, token: string): Promise<CommandResult> {
  const { state } = await createWebhookJournal(tools).load(token);
  const { webhooks } = state;
  const text = webhooks.flatMap(toLines).join('\n') || `There are no webhooks of ${token}.`;
  return { kind: 'done', text, json: webhooks.map(toPublicWebhook) };
}

function toLines(webhook: Webhook): string[] {
  const { id, body, state, deliveries, nextAttemptAt } = toPublicWebhook(webhook);
  const next = nextAttemptAt === undefined ? '' : `, next attempt ${nextAttemptAt}`;
  return [
    `${id}  ${body.type} ${body.status}  ${state}${next}`,
    ...deliveries.map(({ attempt, at, outcome, statusCode, reason }) =>
      `  ${String(attempt).padStart(2)}  ${at}  ${outcome}  ${statusCode ?? reason ?? ''}`.trimEnd(),
    ),
  ];
}

const messageByRefusal: Record<ReplayRefusal['code'], (token: string, id?: string) => string> = {
  webhook_not_found: (token, id) =>
    id === undefined ? `There are no webhooks of ${token}.` : `${id} is no webhook of ${token}.`,
  too_many_replays: (token) => `Webhooks of ${token} may be sent again ${replaysMax} times at most.`,
};

async function replay(tools: CommandTools, token: string, id: string | undefined): Promise<CommandResult> {
  const answer = await createWebhookJournal(tools).requestReplay(token, id, tools.person);
  if (answer.kind === 'refused')
    return { kind: 'refused', message: messageByRefusal[answer.refusal.code](token, id) };
  const text = `A running gateway delivers again, at once: ${answer.ids.join(' ')}`;
  return { kind: 'done', text, json: answer.ids };
}
