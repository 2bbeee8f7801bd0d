/** `reconcile`: asks the running gateway to compare days of an account, and shows what it finds. */
import { dayMs } from '@tollgate/service-kit';
import { createJournal, requestReconciliation } from '@tollgate/command-service';
import { livingMembers } from '@tollgate/event-store';
import {
  type Environment,
  type ReconciliationReport,
  type ReconciliationRequest,
  type ReconciliationEvent,
  decodeReconciliationEvent,
  differenceCountOf,
  evolveReconciliationReport,
  reconciliationStream,
} from '@tollgate/payment-domain';
import { printable } from '@tollgate/service-kit/command-line';
import type { Command } from 'commander';
import { parseDay } from './parse-time.ts';
import {
  type CommandResult,
  type CommandTools,
  type RunCommand,
  environmentOption,
  stopSignalOf,
} from './command.ts';
import { providerCalls } from '../configuration/service-names.ts';

type Print = (text: string) => void;

interface ReconcileOptions {
  account: string;
  environment: Environment;
  from: string;
  to?: string;
  dryRun?: boolean;
  json?: boolean;
}

/** Days of one call at most: each is a run of its own. */
const daysMax = 366;
const pollMs = 500;
/** A gateway begins a run within seconds, unless another run of the account is under way. */
const begunWithinMs = 20_000;

export function registerReconcileCommand(program: Command, run: RunCommand, output: Print): void {
  program
    .command('reconcile')
    .description(
      "have the running gateway compare an account's payments and payouts of some days with the Payment Service; exit code 1 where something differs",
    )
    .requiredOption('--account <name>', 'merchant account')
    .addOption(environmentOption('environment of the account'))
    .requiredOption('--from <day>', 'first day of creation, YYYY-MM-DD in UTC', parseDay)
    .option('--to <day>', 'last day; the first one unless given', parseDay)
    .option('--dry-run', 'only compare: no payment is inquired, and no review opens')
    .action((_: unknown, command: Command) => {
      const options = command.optsWithGlobals<ReconcileOptions>();
      const print = options.json === true ? () => undefined : output;
      return run((tools) => reconcile(tools, options, print));
    });
}

async function reconcile(
  tools: CommandTools,
  options: ReconcileOptions,
  print: Print,
): Promise<CommandResult> {
  const { account, environment, from, to = from, dryRun: isDryRun = false } = options;
  const refused = refusalOf(from, to, tools.clock.now());
  if (refused !== undefined) return { kind: 'usage', message: refused };
  const signal = stopSignalOf(tools);
  const reports: ReconciliationReport[] = [];
  for (let at = Date.parse(from); at <= Date.parse(to); at += dayMs) {
    const day = new Date(at).toISOString().slice(0, 10);
    const wanted = { environment, account, day, isDryRun, by: 'person' } as const;
    const report = await follow(
      tools,
      await requestReconciliation(tools, wanted, tools.person),
      print,
      signal,
    );
    if (typeof report === 'string') return { kind: 'refused', message: report };
    reports.push(report);
  }
  const count = reports.reduce((sum, { counts }) => sum + differenceCountOf(counts), 0);
  const isWhole = reports.every(({ ended }) => ended?.outcome === 'complete');
  const json = reports.map(({ teams: _, ...report }) => report);
  const text = reports.map(toTable).join('\n\n');
  return { kind: 'done', text, json, exitCode: count === 0 && isWhole ? 0 : 1 };
}

function refusalOf(from: string, to: string, now: number): string | undefined {
  if (from > to) return '--from must not be after --to.';
  if (Date.parse(to) > now) return '--to must not be in the future.';
  if (Date.parse(to) - Date.parse(from) >= daysMax * dayMs)
    return `--from and --to must be at most ${daysMax} days apart.`;
  return undefined;
}

/** Prints what happens until the run has ended. @returns its report, or why there is none */
async function follow(
  tools: CommandTools,
  request: ReconciliationRequest,
  print: Print,
  signal: AbortSignal,
): Promise<ReconciliationReport | string> {
  const { store, clock } = tools;
  const { token, account, environment } = request;
  let waitingSince = clock.monotonic();
  let next = 0;
  let report: ReconciliationReport | undefined;
  while (report?.ended === undefined) {
    if (signal.aborted) return `It goes on in the gateway as ${token}.`;
    if (report === undefined && clock.monotonic() - waitingSince > begunWithinMs) {
      const reason = await waitReason(tools, request);
      if (reason === undefined)
        return 'No running gateway calls the accounts: the next one that starts on this data begins the run. Start it.';
      print(`${request.day}: waits for ${reason}\n`);
      waitingSince = clock.monotonic();
    }
    for await (const recorded of store.read(reconciliationStream(token), { from: next })) {
      const event = decodeReconciliationEvent(recorded);
      next = recorded.revision + 1;
      report = evolveReconciliationReport(report, event);
      print(toProgress(event, report));
    }
    if (report?.ended === undefined) await clock.sleep(pollMs, signal).catch(() => undefined);
  }
  return report.ended.outcome === 'account_unknown'
    ? `--account is ${printable(account)}, and the gateway has no such account in ${environment}.`
    : report;
}

/** Why a run does not begin; undefined if no gateway runs that would begin it. */
async function waitReason(
  { store, clock }: CommandTools,
  { token, account, environment }: ReconciliationRequest,
): Promise<string | undefined> {
  const living = await livingMembers(store, clock);
  if (living.every(({ shares }) => !shares.includes(providerCalls))) return undefined;
  const journal = createJournal({ store });
  await journal.refresh();
  const [first] = journal.openOf(environment, account).filter((other) => other.token !== token);
  return first === undefined
    ? 'the gateway to take over the reconciliations of a process that has stopped'
    : `another run of this account, ${first.token} for ${first.day}`;
}

const number = (value: number) => value.toLocaleString('en');

function toProgress(event: ReconciliationEvent, { request, counts }: ReconciliationReport): string {
  const { day } = request;
  switch (event.type) {
    case 'PageCompared': {
      const { operation, page } = event.data;
      const found = `${number(counts.matched)} matched, ${number(differenceCountOf(counts))} different`;
      return `${day}: page ${page} of the ${operation}s compared; ${found}\n`;
    }
    case 'ReconciliationInterrupted':
      return `${day}: the account gives no answer (${printable(event.data.reason)}); the run continues within an hour, and a new request tries at once\n`;
    default:
      return '';
  }
}

const differencesShownMax = 100;

function toTable({ request, ended, counts, sums, differences }: ReconciliationReport): string {
  const { token, account, day, isDryRun } = request;
  const title = `${account} ${day}: ${ended?.outcome ?? ''}${isDryRun ? ' (dry run)' : ''}, ${token}`;
  const countLines = Object.entries(countNames).map(([name, meaning]) => [
    meaning,
    number(counts[name as keyof typeof counts]),
  ]);
  const sumLines = sums.map((each) => [
    ...[each.currency, String(each.paymentsHere), String(each.paymentsThere)],
    ...[String(each.refundsHere), String(each.refundsThere)],
    ...[String(each.payoutsHere), String(each.payoutsThere)],
  ]);
  const sumTitles = [
    'minor units',
    'payments here',
    'there',
    'refunds here',
    'there',
    'payouts here',
    'there',
  ];
  const lines = differences.slice(0, differencesShownMax).map((each) => {
    const { kind, token: own = '', serviceToken, here, there, currency } = each;
    return [kind, own, serviceToken, toText(here, currency), toText(there, currency)];
  });
  const left = differences.length - lines.length;
  const titles = ['difference', 'token', 'service token', 'here', 'there'];
  return [
    title,
    inColumns(countLines),
    ...(sumLines.length === 0 ? [] : [inColumns([sumTitles, ...sumLines])]),
    ...(lines.length === 0 ? [] : [inColumns([titles, ...lines])]),
    ...(left > 0 ? [`and ${number(left)} more: see /api/v1/reconciliations/${token}`] : []),
  ].join('\n\n');
}

const countNames = {
  matched: 'matched',
  differing: 'differing',
  onlyHere: 'only here',
  onlyAtService: 'only at the service',
  onOtherDays: 'on other days there',
  underWay: 'under way, not compared',
} satisfies Record<keyof ReconciliationReport['counts'], string>;

const toText = (
  amounts: { status: string; amount: number; refundedAmount: number | null } | undefined,
  currency: string,
): string => {
  if (amounts === undefined) return '-';
  const { status, amount, refundedAmount } = amounts;
  const refunded = refundedAmount !== 0 ? `, ${refundedAmount ?? 'unknown sum'} refunded` : '';
  return `${status} ${amount} ${currency}${refunded}`;
};

function inColumns(lines: readonly string[][]): string {
  const safe = lines.map((line) => line.map(printable));
  const widths =
    safe[0]?.map((_, column) => Math.max(...safe.map((line) => line[column]?.length ?? 0))) ?? [];
  return safe
    .map((line) =>
      line
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}
