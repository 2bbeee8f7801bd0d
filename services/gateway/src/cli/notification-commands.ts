/** `notification secret`, `notification list`, `notification replay`. */
import {
  type Notification,
  type ReplayRefusal,
  createNotificationJournal,
  replaysMax,
  toPublicNotification,
} from '@tollgate/notifier';
import { type Environment, environmentSchema } from '@tollgate/payment-domain';
import { type NotificationMasterSecret, notificationSecretsOf } from '@tollgate/service-kit';
import { Argument, type Command, InvalidArgumentError, Option } from 'commander';
import type { CommandResult, CommandTools, RunCommand } from './program.ts';
import { teamArgument } from './team-commands.ts';

export function registerNotificationCommands(program: Command, run: RunCommand): void {
  const notification = program
    .command('notification')
    .description('what teams are told about their payments and payouts, at the callbackUrl that they gave');
  notification
    .command('secret')
    .description('print the secret that a team verifies its notifications with (Standard Webhooks)')
    .addArgument(teamArgument('<team>', 'who verifies'))
    .addOption(
      new Option('--environment <environment>', 'of the payments and payouts')
        .choices(environmentSchema.options)
        .makeOptionMandatory(),
    )
    .action((team: string, { environment }: { environment: Environment }) =>
      run(async ({ notificationSecrets }) => showSecrets(notificationSecrets(), environment, team)),
    );
  notification
    .command('list')
    .description('show the notifications of a payment or payout and every try to deliver them')
    .addArgument(subjectArgument())
    .action((token: string) => run((tools) => listNotifications(tools, token)));
  notification
    .command('replay')
    .description('deliver the notifications of a payment or payout once more')
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
  masters: readonly NotificationMasterSecret[],
  environment: Environment,
  team: string,
): CommandResult {
  const secrets = notificationSecretsOf(masters, environment, team).map((secret) => secret.reveal());
  const [current, former] = secrets;
  // Only the secret itself, so that it can be handed on by a pipe; of two, the first is the one to use from now on.
  const text = former === undefined ? `${current}` : `${current}\n${former}`;
  return { kind: 'done', text, json: { team, environment, secrets } };
}

async function listNotifications(tools: CommandTools, token: string): Promise<CommandResult> {
  const { state } = await createNotificationJournal(tools).load(token);
  const { notifications } = state;
  const text = notifications.flatMap(toLines).join('\n') || `There are no notifications of ${token}.`;
  return { kind: 'done', text, json: notifications.map(toPublicNotification) };
}

function toLines(notification: Notification): string[] {
  const { id, body, state, deliveries, nextAttemptAt } = toPublicNotification(notification);
  const next = nextAttemptAt === undefined ? '' : `, next try ${nextAttemptAt}`;
  return [
    `${id}  ${body.type} ${body.status}  ${state}${next}`,
    ...deliveries.map(({ attempt, at, outcome, statusCode, reason }) =>
      `  ${String(attempt).padStart(2)}  ${at}  ${outcome}  ${statusCode ?? reason ?? ''}`.trimEnd(),
    ),
  ];
}

const messageByRefusal: Record<ReplayRefusal['code'], (token: string, id?: string) => string> = {
  notification_not_found: (token, id) =>
    id === undefined ? `There are no notifications of ${token}.` : `${id} is no notification of ${token}.`,
  too_many_replays: (token) => `Notifications of ${token} may be sent again ${replaysMax} times at most.`,
};

async function replay(tools: CommandTools, token: string, id: string | undefined): Promise<CommandResult> {
  const actor = { kind: 'service' as const, name: 'tollgate-cli' };
  const answer = await createNotificationJournal(tools).requestReplay(token, id, actor);
  if (answer.kind === 'refused')
    return { kind: 'refused', message: messageByRefusal[answer.refusal.code](token, id) };
  const text = `A running gateway delivers once more, at once: ${answer.ids.join(' ')}`;
  return { kind: 'done', text, json: answer.ids };
}
