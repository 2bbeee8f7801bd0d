/** `payment forget`. */
import {
  forgetCustomerOf,
  isCustomerKept,
  remainingPlaces,
  remainingTexts,
  paymentStream,
} from '@tollgate/core';
import { type CommandResult, done, printable, refuse } from '@tollgate/service-kit/command-line';
import type { CommandTools } from './tools.ts';

export async function forgetCustomer(
  tools: CommandTools,
  { token, yes }: { token: string; yes: boolean },
): Promise<CommandResult> {
  const { store } = tools;
  if (!(await isThere(tools, token))) return refuse(`There is no payment ${token}.`);
  const wasKept = await isCustomerKept(store, token);
  if (!yes) {
    const kept = wasKept
      ? 'E-mail and IP address of the customer are stored, encrypted, for a further attempt of the creation. With --yes, they are erased.'
      : 'No e-mail and IP address of the customer are stored. With --yes, none will be.';
    return refuse([kept, ...remainsText(await remainingTexts(store, token))].join('\n'));
  }
  await forgetCustomerOf(tools, token, tools.person);
  const remains = await remainingTexts(tools.store, token);
  const text = [
    wasKept
      ? `Erased the e-mail and IP address of the customer of ${token}.`
      : `No e-mail and IP address of the customer of ${token} were stored.`,
    ...remainsText(remains),
  ].join('\n');
  return done(text, { token, wasKept, remains, places: remainingPlaces });
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
