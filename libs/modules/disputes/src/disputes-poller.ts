/**
 * Reads the lists of disputes periodically. The provider shows a dispute nowhere else: a callback only triggers the next
 * reading.
 */
import { type Clock, type Ids, type Log, omitUndefined, isRetryable } from '@tollgate/service-kit';
import type { EventStore } from '@tollgate/event-store';
import type {
  Account,
  Cause,
  Environment,
  FoundDispute,
  InquiryOutcome,
  RecordDispute,
} from '@tollgate/core';
import type { DisputeAggregate } from '@tollgate/books';
import { type Disputes, createDisputes, deriveDisputeToken } from './disputes.ts';

export interface DisputesPollerDependencies {
  store: EventStore;
  accounts: { all(): readonly DisputedAccount[] };
  payments: { execute(token: string, input: RecordDispute, cause: Cause): Promise<unknown> };
  /** Our payment by the provider's token; undefined if the index does not have it, or not yet. */
  findByServiceToken: (
    environment: Environment,
    account: string,
    serviceToken: string,
  ) => { token: string; team: string } | undefined;
  /** Interval between two readings without a callback. @default 60,000 @unit milliseconds */
  pollEveryMs?: number;
  clock: Clock;
  ids: Ids;
  log: Log;
}

const pollEveryMsDefault = 60_000;
/** Minimum interval between two readings, however many callbacks arrive. @unit milliseconds */
const pollPauseMs = 1_000;

export function createDisputesPoller(deps: DisputesPollerDependencies) {
  const { clock, pollEveryMs = pollEveryMsDefault } = deps;
  const read = createReading(deps);
  let nudged = new AbortController();

  const sleep = (durationMs: number, ...signals: AbortSignal[]) =>
    clock.sleep(durationMs, AbortSignal.any(signals)).catch(() => undefined);

  return {
    /** A dispute has changed: the lists are read at once, or after the reading under way. */
    nudge: (): void => nudged.abort(),
    /** Runs until the signal is aborted; a reading under way is ended between two disputes. */
    async run(signal: AbortSignal): Promise<void> {
      while (!signal.aborted) {
        // Later changes may be missing in this reading: a nudge during it triggers another one.
        nudged = new AbortController();
        await read(signal);
        await sleep(pollPauseMs, signal);
        await sleep(Math.max(0, pollEveryMs - pollPauseMs), signal, nudged.signal);
      }
    },
  };
}

type DisputedAccount = Pick<Account, 'environment' | 'name' | 'provider'>;

/** Maximum number of disputes that the provider lists. */
const shownMax = 100;

/** Returns a function that reads the list of every account once; a failure of one does not stop the others. */
function createReading(deps: DisputesPollerDependencies): (signal: AbortSignal) => Promise<void> {
  const disputes = createDisputes(deps);
  const memories = new Map<string, Remembered>();

  async function readSafely(account: DisputedAccount, signal: AbortSignal): Promise<void> {
    const { environment, name } = account;
    const key = JSON.stringify([environment, name]);
    const remembered = memories.get(key) ?? { unreadable: 0, listed: new Map() };
    memories.set(key, remembered);
    try {
      const reading = { ...deps, disputes, account, cause: causeOf(deps), remembered };
      // Repeats if a dispute is known that was not read before the request, for example after a start.
      if ((await readAccount(reading, signal)) === 'moved') await readAccount(reading, signal);
    } catch (error) {
      deps.log.error(
        { error, account: name, operation: 'disputes' },
        'some disputes of an account were not recorded; the next reading retries them',
      );
    }
  }

  return async (signal) => {
    await Promise.all(deps.accounts.all().map((account) => readSafely(account, signal)));
  };
}

/** State of an account between readings. */
interface Remembered {
  /** Number of unreadable ones. */
  unreadable: number;
  /** The disputes of the last list. */
  listed: ReadonlyMap<string, { isReported?: true; onPayment?: number }>;
}

interface AccountReading extends DisputesPollerDependencies {
  disputes: Disputes;
  account: DisputedAccount;
  cause: Cause;
  remembered: Remembered;
}

function causeOf({ ids }: DisputesPollerDependencies): Cause {
  const id = ids.uuid();
  return { correlationId: id, causationId: id, actor: { kind: 'service', name: 'disputes' } };
}

async function readAccount(reading: AccountReading, signal: AbortSignal): Promise<'read' | 'moved'> {
  const { account, log, remembered } = reading;
  const before = await revisionsOf(reading);
  const outcome = await account.provider.listDisputes();
  if (outcome.kind !== 'accepted') {
    logUnread(reading, outcome);
    return 'read';
  }
  const { found, unreadable } = outcome.answer;
  logRowsUnread(reading, unreadable);
  const shown = byToken(account, found);
  const { listed } = remembered;
  remembered.listed = new Map([...shown.keys()].map((token) => [token, listed.get(token) ?? {}]));
  const ends: (Recorded | 'failed')[] = [];
  for (const [token, dispute] of shown) {
    if (signal.aborted) return 'read';
    ends.push(await recordSafely(reading, token, { dispute, onlyAt: before.get(token) ?? 'nothing' }));
  }
  const openedCount = ends.filter((each) => each === 'opened').length;
  if (openedCount >= shownMax && openedCount === shown.size)
    log.warn(
      { account: account.name, operation: 'disputes', count: openedCount },
      "every dispute that the provider shows is new; older ones may be missing here: see the provider's console",
    );
  return ends.includes('moved') ? 'moved' : 'read';
}

/**
 * In the previous list. A process that was suspended after reading a list may have been overtaken by another one: a dispute
 * that has changed since before the request is not taken from this list.
 */
async function revisionsOf({
  disputes,
  remembered,
  log,
}: AccountReading): Promise<ReadonlyMap<string, number>> {
  const revisions = new Map<string, number>();
  for (const token of remembered.listed.keys()) {
    try {
      const known = await disputes.load(token);
      if (known !== undefined) revisions.set(token, known.revision);
    } catch (error) {
      if (isRetryable(error)) throw error;
      log.debug({ error, token, operation: 'disputes' }, 'a dispute cannot be read');
    }
  }
  return revisions;
}

/** The result of a list. */
type Recorded = 'opened' | 'moved' | 'known';

interface Shown {
  dispute: FoundDispute;
  /** The revision before the list was requested. */
  onlyAt: number | 'nothing';
}

/** The list is newest first: of two entries for a dispute, the first one counts. */
function byToken(
  { environment, name }: DisputedAccount,
  list: readonly FoundDispute[],
): ReadonlyMap<string, FoundDispute> {
  const shown = new Map<string, FoundDispute>();
  for (const dispute of list) {
    const token = deriveDisputeToken(environment, name, dispute.observed.id);
    if (!shown.has(token)) shown.set(token, dispute);
  }
  return shown;
}

function logUnread(
  { account, log }: AccountReading,
  outcome: Exclude<InquiryOutcome<never>, { kind: 'accepted' }>,
): void {
  const code =
    outcome.kind === 'refused' ? outcome.errors[0]?.code : 'reason' in outcome ? outcome.reason : undefined;
  log.warn(
    { account: account.name, operation: 'disputes', outcome: outcome.kind, ...omitUndefined({ code }) },
    'the list of disputes could not be read; the next reading tries again',
  );
}

function logRowsUnread({ account, log, remembered }: AccountReading, count: number): void {
  if (count > remembered.unreadable)
    log.error(
      { account: account.name, operation: 'disputes', count },
      "some disputes that the provider shows cannot be read, and are not recorded: see the provider's console",
    );
  remembered.unreadable = count;
}

/** As {@link record}: a dispute that fails permanently must not block later ones. */
async function recordSafely(
  reading: AccountReading,
  token: string,
  shown: Shown,
): Promise<Recorded | 'failed'> {
  try {
    return await record(reading, token, shown);
  } catch (error) {
    // The store is down: the others would fail as well.
    if (isRetryable(error)) throw error;
    reading.log.error({ error, token, operation: 'disputes' }, 'a dispute was not recorded');
    return 'failed';
  }
}

/** Records news of a dispute. */
async function record(reading: AccountReading, token: string, { dispute, onlyAt }: Shown): Promise<Recorded> {
  const { environment, name: account } = reading.account;
  const payment = paymentOf(reading, dispute);
  const { observed } = dispute;
  const command = {
    type: 'ObserveDispute' as const,
    environment,
    account,
    observed,
    ...omitUndefined({ payment }),
  };
  const executed = await reading.disputes.execute(token, command, reading.cause, { onlyAt });
  if (executed.kind === 'moved') return 'moved';
  if (executed.kind === 'refused') {
    logUnreadable(reading, token, executed.refusal.code);
    return 'known';
  }
  await recordOnPayment(reading, executed.aggregate);
  const isNew = executed.events.some(({ type }) => type === 'DisputeOpened');
  if (isNew && payment === undefined)
    reading.log.warn(
      { token, account, operation: 'disputes', outcome: 'unmatched' },
      'a dispute is about no payment that is known here; it is matched when it is',
    );
  return isNew ? 'opened' : 'known';
}

/** Repeated after a restart, and once the dispute is matched: a known state adds nothing. */
async function recordOnPayment(
  { payments, remembered, cause }: AccountReading,
  { token, revision, dispute }: DisputeAggregate,
): Promise<void> {
  const { paymentToken, amount, currency, state, status, reasonCode } = dispute;
  const known = remembered.listed.get(token);
  if (paymentToken === undefined || known?.onPayment === revision) return;
  const facts = { state, amount, currency, status, ...omitUndefined({ reasonCode }) };
  const command: RecordDispute = { type: 'RecordDispute', disputeToken: token, revision, ...facts };
  await payments.execute(paymentToken, command, cause);
  if (known !== undefined) known.onPayment = revision;
}

const paymentOf = ({ account, findByServiceToken }: AccountReading, { serviceToken }: FoundDispute) =>
  serviceToken === undefined
    ? undefined
    : findByServiceToken(account.environment, account.name, serviceToken);

function logUnreadable({ account, log, remembered }: AccountReading, token: string, code: string): void {
  const known = remembered.listed.get(token);
  if (known?.isReported === true) return;
  if (known !== undefined) known.isReported = true;
  log.warn({ token, account: account.name, operation: 'disputes', code }, 'a dispute cannot be recorded');
}
