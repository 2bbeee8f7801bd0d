/** `payment forget`. */
import { forgetCustomerOf, isCustomerKept, remainingPlaces, remainingTexts } from '@tollgate/command-service';
import { paymentStream } from '@tollgate/payment-domain';
import { printable } from '@tollgate/service-kit/command-line';
import { type Command, InvalidArgumentError } from 'commander';
import type { CommandResult, CommandTools, RunCommand } from './command.ts';

export function registerPaymentCommands(program: Command, run: RunCommand): void {
  program
    .command('payment')
    .description('what is kept about a payment')
    .command('forget')
    .description(
      'erase the stored e-mail and IP address of the customer of a payment, and list which texts stay in the books',
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
      ? 'E-mail and IP address of the customer are stored, encrypted, for a further attempt of the creation. With --yes, they are erased.'
      : 'No e-mail and IP address of the customer are stored. With --yes, none will be.';
    return {
      kind: 'refused',
      message: [kept, ...remainsText(await remainingTexts(tools.store, token))].join('\n'),
    };
  }
  await forgetCustomerOf(tools, token, tools.person);
  const remains = await remainingTexts(tools.store, token);
  const text = [
    wasKept
      ? `Erased the e-mail and IP address of the customer of ${token}.`
      : `No e-mail and IP address of the customer of ${token} were stored.`,
    ...remainsText(remains),
  ].join('\n');
  return { kind: 'done', text, json: { token, wasKept, remains, places: remainingPlaces } };
}

const remainsText = (remains: Readonly<Record<string, string>>): string[] =>
  Object.keys(remains).length === 0
    ? []
    : [
        'These texts stay in the books and cannot be erased:',
        ...Object.entries(remains).map(([name, text]) => `  ${printable(name)}: ${printable(text)}`),
        `They are in: ${remainingPlaces.join('; ')}.`,
      ];

async function isThere({ store }: CommandTools, token: string): Promise<boolean> {
  for await (const _ of store.read(paymentStream(token), { limit: 1 })) return true;
  return false;
}
