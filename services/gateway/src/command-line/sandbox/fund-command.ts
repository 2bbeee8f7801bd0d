/** `fund`: money that the demo team can pay out at once, come by as money comes: by a payment. */
import { formatAmount, isCurrency } from '@tollgate/payment-domain/money';
import type { CommandResult, RunCommand } from '@tollgate/service-kit/command-line';
import { type Command, InvalidArgumentError } from 'commander';
import { z } from 'zod';
import { untilApproved } from '../gateway-calls.ts';
import { type SandboxTools, done, paymentAnswer, serviceTokenOf, toWholeNumber } from './sandbox-parts.ts';

const amountDefault = 100_000;

const createdAnswer = z.object({ token: z.string() });
const statusAnswer = z.object({ payment: z.object({ status: z.string() }) });
const balanceAnswer = z.object({ wallet: z.object({ currency: z.string(), available: z.int() }) });

export function addFundCommand(program: Command, run: RunCommand<SandboxTools>): void {
  program
    .command('fund')
    .description(
      'let the demo team take money that it can pay out at once: a payment is made, paid, and settled before its day is over',
    )
    .argument('[amount]', 'in minor units', toWholeNumber, amountDefault)
    .argument('[currency]', 'ISO 4217 alphabetic code in capitals', toCurrency, 'EUR')
    .action((amount: number, currency: string) => run((tools) => fund(tools, { amount, currency })));
}

function toCurrency(text: string): string {
  if (isCurrency(text)) return text;
  throw new InvalidArgumentError('It must be an ISO 4217 alphabetic code in capitals.');
}

async function fund(
  tools: SandboxTools,
  { amount, currency }: { amount: number; currency: string },
): Promise<CommandResult> {
  const callGateway = tools.gateway();
  const body = { product: 'Money for payouts', amount, currency, orderNumber: tools.newOrderNumber() };
  const { token } = await callGateway(createdAnswer, { method: 'POST', path: '/api/v1/payments', body });
  const serviceToken = await serviceTokenOf(tools, token);
  const control = (name: string, how: object) =>
    tools.call(paymentAnswer, 'POST', `/sandbox/payments/${serviceToken}/${name}`, how);
  await control('pay', { outcome: 'approved' });
  await control('settle', {});
  await untilApproved(async () => {
    const path = `/api/v1/payments/${token}`;
    return (await callGateway(statusAnswer, { method: 'GET', path })).payment.status;
  });
  const path = `/api/v1/balance?currency=${currency}`;
  const { wallet } = await callGateway(balanceAnswer, { method: 'GET', path });
  const [took, has] = [amount, wallet.available].map((sum) => formatAmount(sum, currency));
  const text = `The demo team took ${took} by ${token}, and can pay out ${has} now (${wallet.available} in minor units).`;
  return done(text, { token, amount, currency, available: wallet.available });
}
