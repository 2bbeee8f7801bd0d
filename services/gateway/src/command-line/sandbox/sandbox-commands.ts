/** `npm run sandbox -- <command>`. */
import { faultNames, faultOperations } from '@tollgate/payment-service/settings';
import {
  type CommandLineDeps,
  type CommandResult,
  type RunCommand,
  runProgram,
} from '@tollgate/service-kit/command-line';
import { Argument, Command, InvalidArgumentError } from 'commander';
import { z } from 'zod';
import { addFundCommand } from './fund-command.ts';
import { type SandboxCalls, SandboxRefusal } from './sandbox-calls.ts';
import {
  type SandboxTools,
  done,
  ledgerAnswer,
  paymentAnswer,
  serviceTokenOf,
  toWholeNumber,
} from './sandbox-parts.ts';

type Run = RunCommand<SandboxTools>;

const faultsAnswer = z.object({
  faults: z.array(z.looseObject({ operation: z.string(), fault: z.string() })),
});
const refundAnswer = z.looseObject({
  refund: z.looseObject({ token: z.string(), amount: z.int(), currency: z.string(), status: z.string() }),
});
const clockAnswer = z.object({ now: z.string() });
/** Runs one command and gives the exit code of the process. */
export function runSandboxCommand(
  argv: readonly string[],
  deps: CommandLineDeps<SandboxTools>,
): Promise<number> {
  const program = new Command('npm run sandbox --')
    .description(
      "Plays customer, operator, fate and time of the running gateway's sandbox. A [payment] is a token of the gateway or of the sandbox; without one, it is the newest.",
    )
    .option('--json', 'print the answer of the sandbox as one line of JSON');
  return runProgram(
    argv,
    program,
    (run) => {
      const running: Run = (work) => run((tools) => refusing(work(tools)));
      addFaultCommands(program, running);
      addPaymentCommands(program, running);
      addOtherCommands(program, running);
      addFundCommand(program, running);
    },
    deps,
  );
}

const refusing = (work: Promise<CommandResult>): Promise<CommandResult> =>
  work.catch((error: unknown) => {
    if (error instanceof SandboxRefusal) return { kind: 'refused', message: error.message };
    throw error;
  });

function addFaultCommands(program: Command, run: Run): void {
  const faults = program.command('faults').description('what goes wrong on purpose');
  const show = (answer: z.infer<typeof faultsAnswer>) => done(toFaultLines(answer), answer);
  faults
    .command('list')
    .description('show the faults that are set')
    .action(() => run(async ({ call }) => show(await call(faultsAnswer, 'GET', '/sandbox/faults'))));
  faults
    .command('set')
    .description(
      `set a fault behind those that are set\n  of callback: ${faultNames('callback').join(', ')}\n  of every other operation: ${faultNames('create').join(', ')}`,
    )
    .addArgument(new Argument('<operation>', 'what fails').choices(faultOperations))
    .addArgument(new Argument('<fault>', 'how; which ones there are is said above'))
    .option('--times <count>', 'so many times, then never again', toWholeNumber)
    .option('--every <count>', 'only each n-th time', toWholeNumber)
    .option(
      '--delay <duration>',
      'how long slow_reply, delay and reorder wait, such as 500ms, 5s',
      toDuration,
    )
    .action((operation: string, fault: string, options: { times?: number; every?: number; delay?: number }) =>
      run(async ({ call }) => {
        const { delay, ...limits } = options;
        const body = [{ operation, fault, ...limits, ...(delay === undefined ? {} : { delayMs: delay }) }];
        return show(await call(faultsAnswer, 'POST', '/sandbox/faults', body));
      }),
    );
  faults
    .command('clear')
    .description('let everything go well again')
    .action(() => run(async ({ call }) => show(await call(faultsAnswer, 'DELETE', '/sandbox/faults'))));
}

const toFaultLines = ({ faults }: z.infer<typeof faultsAnswer>): string =>
  faults.length === 0
    ? 'No fault is set.'
    : faults
        .map(({ operation, fault, ...limits }) =>
          [operation, fault, ...Object.entries(limits).map((each) => each.join('='))].join(' '),
        )
        .join('\n');

function addPaymentCommands(program: Command, run: Run): void {
  const change = async (calls: SandboxCalls, payment: string | undefined, path: string, body: object) => {
    const token = await serviceTokenOf(calls, payment);
    const answer = await calls.call(paymentAnswer, 'POST', `/sandbox/payments/${token}/${path}`, body);
    const { status, amount, currency } = answer.payment;
    return done(`${token} ${status} ${amount} ${currency}`, answer);
  };
  program
    .command('pay [payment]')
    .description('pay as the customer')
    .option('--card <number>', 'with this test card, instead of one that is approved')
    .action((payment: string | undefined, { card }: { card?: string }) =>
      run((calls) =>
        change(calls, payment, 'pay', card === undefined ? { outcome: 'approved' } : { pan: card }),
      ),
    );
  program
    .command('decline [payment]')
    .description('pay as a customer whose card is declined')
    .action((payment: string | undefined) =>
      run((calls) => change(calls, payment, 'pay', { outcome: 'declined' })),
    );
  program
    .command('revise')
    .description('change what was final already, as the service sometimes does')
    .addArgument(new Argument('<status>', 'what it becomes').choices(['approved', 'declined']))
    .argument('[payment]')
    .option('--amount <amount>', 'and of another amount, in minor units', toWholeNumber)
    .action((status: string, payment: string | undefined, options: { amount?: number }) =>
      run((calls) => change(calls, payment, 'revise', { status, ...options })),
    );
  program
    .command('refund [payment]')
    .description("refund in the service's own console: the gateway is not asked")
    .option('--amount <amount>', 'only so much, in minor units', toWholeNumber)
    .action((payment: string | undefined, options: { amount?: number }) =>
      run(async (calls) => {
        const token = await serviceTokenOf(calls, payment);
        const answer = await calls.call(refundAnswer, 'POST', '/api/v1/refunds', { token, ...options });
        const { refund } = answer;
        return done(`${refund.token} ${refund.status} ${refund.amount} ${refund.currency}`, answer);
      }),
    );
}

function addOtherCommands(program: Command, run: Run): void {
  program
    .command('clock <duration>')
    .description('move the time of the sandbox on, such as +8d, +90m; 0s shows it')
    .action((text: string) => {
      const advanceMs = toDuration(text);
      return run(async ({ call }) => {
        const answer = await call(clockAnswer, 'POST', '/sandbox/clock', { advanceMs });
        return done(`It is ${answer.now} in the sandbox.`, answer);
      });
    });
  program
    .command('ledger')
    .description('show what really happened to the money; --json shows callbacks and calls, too')
    .action(() =>
      run(async ({ call }) => {
        const answer = await call(ledgerAnswer, 'GET', '/sandbox/ledger');
        return done(toLedgerLines(answer), answer);
      }),
    );
}

function toLedgerLines({ payments, refunds, payouts, wallets }: z.infer<typeof ledgerAnswer>): string {
  const lines = [
    ...payments.map(({ token, status, amount, currency, refundedAmount, orderNumber }) =>
      ['payment', token, status, `${amount} ${currency}`, `refunded ${refundedAmount}`, orderNumber].join(
        '  ',
      ),
    ),
    ...refunds.map(({ token, status, amount }) => ['refund ', token, status, amount].join('  ')),
    ...payouts.map(({ token, status, amount }) => ['payout ', token, status, amount].join('  ')),
    ...wallets.map((wallet) =>
      ['wallet ', ...Object.entries(wallet).map((each) => each.join(' '))].join('  '),
    ),
  ];
  return lines.length === 0 ? 'Nothing has happened yet.' : lines.join('\n');
}

const unitsMs: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };

function toDuration(text: string): number {
  const [, count, unit = ''] = /^\+?(\d{1,9})(ms|s|m|h|d)$/.exec(text) ?? [];
  const unitMs = unitsMs[unit];
  if (unitMs === undefined)
    throw new InvalidArgumentError('It must be a number and a unit, ms, s, m, h or d, such as +8d.');
  return Number(count) * unitMs;
}
