/** `reconcile`: makes the running gateway compare days of an account, and shows the result. */
import {
  createJournal,
  requestReconciliation,
  type ReconciliationEvent,
  type ReconciliationReport,
  type ReconciliationRequest,
  decodeReconciliationEvent,
  differenceCountOf,
  evolveReconciliationReport,
  reconciliationStream,
} from '@tollgate/reconciliation';
import { formatAmount } from '@tollgate/core/money';
import { livingMembers } from '@tollgate/event-store';
import { providerCalls } from '@tollgate/gateway/configuration';
import { dayMs } from '@tollgate/service-kit';
import {
  type CommandResult,
  type ValuesOf,
  done,
  flag,
  option,
  printable,
  refuse,
  requiredOption,
} from '@tollgate/service-kit/command-line';
import * as read from './parameters.ts';
import { type CommandTools, number, stopSignalOf } from './tools.ts';

export const reconcileParameters = {
  account: read.account,
  environment: read.environmentOf('of the account'),
  from: requiredOption('day', 'first day of creation, YYYY-MM-DD in UTC', read.day),
  to: option('day', 'last day; the first one by default', read.day),
  dryRun: flag('only compare: no payment is inquired, and no review opens'),
};
type ReconcileOptions = ValuesOf<typeof reconcileParameters>;

/** Maximum number of days per call: each day is a separate run. */
const daysMax = 366;
const pollMs = 500;
/** A gateway starts a run within seconds, unless another run of the account is in progress. */
const begunWithinMs = 20_000;

export async function reconcile(
  tools: CommandTools,
  { account, environment, from, to = from, dryRun: isDryRun }: ReconcileOptions,
): Promise<CommandResult> {
  const refused = refusalOf(from, to, tools.clock.now());
  if (refused !== undefined) return { kind: 'usage', message: refused };
  const signal = stopSignalOf(tools);
  const reports: ReconciliationReport[] = [];
  for (let at = Date.parse(from); at <= Date.parse(to); at += dayMs) {
    const day = new Date(at).toISOString().slice(0, 10);
    const wanted = { environment, account, day, isDryRun, by: 'person' } as const;
    const report = await follow(tools, await requestReconciliation(tools, wanted, tools.person), signal);
    if (typeof report === 'string') return refuse(report);
    reports.push(report);
  }
  const count = reports.reduce((sum, { counts }) => sum + differenceCountOf(counts), 0);
  const isWhole = reports.every(({ ended }) => ended?.outcome === 'complete');
  const json = reports.map(({ teams: _, ...report }) => report);
  const text = reports.map(toText).join('\n');
  return done(text, json, count === 0 && isWhole ? 0 : 1);
}

function refusalOf(from: string, to: string, now: number): string | undefined {
  if (from > to) return '--from must not be after --to.';
  if (Date.parse(to) > now) return '--to must not be in the future.';
  if (Date.parse(to) - Date.parse(from) >= daysMax * dayMs)
    return `--from and --to must be at most ${daysMax} days apart.`;
  return undefined;
}

/** Prints progress until the run has ended. @returns its report, or why there is none */
async function follow(
  tools: CommandTools,
  request: ReconciliationRequest,
  signal: AbortSignal,
): Promise<ReconciliationReport | string> {
  const { store, clock, progress } = tools;
  const { token, account, environment } = request;
  let waitingSince = clock.monotonic();
  let next = 0;
  let report: ReconciliationReport | undefined;
  while (report?.ended === undefined) {
    if (signal.aborted) return `It continues in the gateway as ${token}.`;
    if (report === undefined && clock.monotonic() - waitingSince > begunWithinMs) {
      const reason = await waitReason(tools, request);
      if (reason === undefined)
        return 'No running gateway calls the accounts: the next one that starts on this data begins the run. Start it.';
      progress(`${request.day}: waits for ${reason}\n`);
      waitingSince = clock.monotonic();
    }
    for await (const recorded of store.read(reconciliationStream(token), { from: next })) {
      const event = decodeReconciliationEvent(recorded);
      next = recorded.revision + 1;
      report = evolveReconciliationReport(report, event);
      progress(toProgress(event, report));
    }
    if (report?.ended === undefined) await clock.sleep(pollMs, signal).catch(() => undefined);
  }
  return report.ended.outcome === 'account_unknown'
    ? `--account is ${printable(account)}, and the gateway has no such account in ${environment}.`
    : report;
}

/** Why a run has not started; undefined if no gateway is running. */
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

/** One line of counts, and one for each of the first differences. The report has the sums as well. */
const differencesShownMax = 100;

function toText({ request, ended, counts, differences }: ReconciliationReport): string {
  const { token, account, day, isDryRun } = request;
  const found = Object.entries(countNames).map(
    ([name, meaning]) => `${number(counts[name as keyof typeof counts])} ${meaning}`,
  );
  const left = differences.length - differencesShownMax;
  return [
    `${account} ${day}: ${ended?.outcome ?? ''}${isDryRun ? ' (dry run)' : ''}: ${found.join(', ')}`,
    ...differences.slice(0, differencesShownMax).map(toLine),
    ...(left > 0 ? [`  and ${number(left)} more`] : []),
    `  sums and differences: /console/reconciliations/${token}`,
  ].join('\n');
}

const countNames = {
  matched: 'matched',
  differing: 'differing',
  onlyHere: 'only here',
  onlyAtService: 'only at the provider',
  onOtherDays: 'on other days at the provider',
  underWay: 'in progress, not compared',
} satisfies Record<keyof ReconciliationReport['counts'], string>;

function toLine({ kind, token, serviceToken, here, there, currency }: Difference): string {
  const shown = (side: Difference['here']) => {
    if (side === undefined) return 'nothing';
    const { status, amount, refundedAmount } = side;
    const sum = refundedAmount === null ? 'unknown sum' : formatAmount(refundedAmount, currency);
    return `${status} ${formatAmount(amount, currency)}${refundedAmount === 0 ? '' : `, ${sum} refunded`}`;
  };
  const names = [token, serviceToken].filter((name) => name !== undefined).join(' ');
  return printable(`  ${kind} ${names}: ours ${shown(here)}, the provider's ${shown(there)}`);
}

type Difference = ReconciliationReport['differences'][number];
