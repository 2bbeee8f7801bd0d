/** `payment forget`. */
import { forgetCustomerOf, isCustomerKept } from '@tollgate/command-service';
import { paymentStream } from '@tollgate/payment-domain';
import { type Command, InvalidArgumentError } from 'commander';
import type { CommandResult, CommandTools, RunCommand } from './command.ts';

export function registerPaymentCommands(program: Command, run: RunCommand): void {
  program
    .command('payment')
    .description('what is kept about a payment')
    .command('forget')
    .description(
      'make unreadable for ever what is kept about the customer of a payment; the payment itself stays in the books',
    )
    .argument('<token>', 'the token of the payment', parsePaymentToken)
    .option('--yes', 'do it; otherwise only say what would be done')
    .action((token: string, { yes = false }: { yes?: boolean }) => run((tools) => forget(tools, token, yes)));
}

function parsePaymentToken(text: string): string {
  if (/^po_/.test(text))
    throw new InvalidArgumentError(
      'It is the token of a payout, of which nothing but a mask of its destination is kept.',
    );
  if (!/^pay_[A-Za-z0-9_-]{1,124}$/.test(text))
    throw new InvalidArgumentError('It is not the token of a payment.');
  return text;
}

async function forget(tools: CommandTools, token: string, isMeant: boolean): Promise<CommandResult> {
  const { store } = tools;
  if (!(await isThere(tools, token))) return { kind: 'refused', message: `There is no payment ${token}.` };
  const wasKept = await isCustomerKept(store, token);
  if (!isMeant) {
    const kept = wasKept
      ? 'E-mail and network address of the customer are kept, encrypted, for a further attempt of the creation.'
      : 'Nothing is kept about the customer.';
    return { kind: 'refused', message: `${kept} With --yes, they are forgotten for ever.` };
  }
  await forgetCustomerOf(tools, token, tools.person);
  const text = wasKept
    ? `Forgot what was kept about the customer of ${token}.`
    : `Nothing was kept about the customer of ${token}, and nothing will be.`;
  return { kind: 'done', text, json: { token, wasKept } };
}

async function isThere({ store }: CommandTools, token: string): Promise<boolean> {
  for await (const _ of store.read(paymentStream(token), { limit: 1 })) return true;
  return false;
}
