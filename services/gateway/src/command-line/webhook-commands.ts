/** `webhook secret`, `webhook list`, `webhook replay`. */
import {
  type Webhook,
  type ReplayRefusal,
  createWebhookJournal,
  replaysMax,
  toPublicWebhook,
} from '@tollgate/notifier';
import type { Environment } from '@tollgate/payment-domain';
import { type WebhookMasterSecret, webhookSecretsOf } from '@tollgate/service-kit';
import { Argument, type Command, InvalidArgumentError } from 'commander';
import { type CommandResult, type CommandTools, type RunCommand, environmentOption } from './command.ts';
import { teamArgument } from './team-commands.ts';

export function registerWebhookCommands(program: Command, run: RunCommand): void {
  const webhook = program
    .command('webhook')
    .description('signed notifications to teams about their payments and payouts');
  webhook
    .command('secret')
    .description('print the secret that a team verifies its webhooks with (Standard Webhooks)')
    .addArgument(teamArgument('<team>', 'who verifies'))
    .addOption(environmentOption('of the payments and payouts'))
    .action((team: string, { environment }: { environment: Environment }) =>
      run(async ({ webhookSecrets }) => showSecrets(webhookSecrets(), environment, team)),
    );
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

const subjectArgument = (): Argument =>
  new Argument('<token>', 'the token of the payment or payout').argParser((text: string) => {
    if (!/^[A-Za-z0-9_-]{1,128}$/.test(text)) throw new InvalidArgumentError('It is not a token.');
    return text;
  });

function showSecrets(
  masters: readonly WebhookMasterSecret[],
  environment: Environment,
  team: string,
): CommandResult {
  const secrets = webhookSecretsOf(masters, environment, team).map((secret) => secret.reveal());
  const [current, former] = secrets;
  // Only the secret itself, so that it can be handed on by a pipe; of two, the first is the one to use from now on.
  const text = former === undefined ? `${current}` : `${current}\n${former}`;
  return { kind: 'done', text, json: { team, environment, secrets } };
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
