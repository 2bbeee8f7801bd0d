/**
 * Compares the clock of this process with that of the event store. Windows of calls and due times of inquiries are
 * wall-clock times of several processes: where the clocks are too far apart, a lost answer is given up too early.
 */
import type { EventStore } from '@tollgate/event-store';
import { type Clock, type Ids, type Log, TollgateError } from '@tollgate/service-kit';

export interface ClockCheck {
  /**
   * How far our clock is ahead of the store's, milliseconds; negative where it is behind, 0 within what can be measured,
   * undefined before the first comparison. Between two comparisons a jump of our clock shows at once.
   */
  skewMs(): number | undefined;
  /** False where the skew is beyond its bound, until it is known, and where it has not been known for ten seconds. */
  isTrusted(): boolean;
  /** True where it is not trusted, but for the first ten seconds of a process that has not compared yet. */
  isWrong(): boolean;
  /**
   * False before the first comparison, and from when the two clocks of this machine have gone apart until the next: it may
   * have slept, and then by the time that it takes for the store's, what it announces would be over for all others. So it is
   * once none has succeeded for a minute: the clock of the store may have been set.
   */
  isKnown(): boolean;
  /** Resolves when the clocks have been compared again. */
  nextComparison(): Promise<unknown>;
  /** Compares again and again; resolves when the signal is aborted. */
  run(signal: AbortSignal): Promise<void>;
}

interface ClockCheckDependencies {
  store: EventStore;
  /** Milliseconds. */
  skewMaxMs: number;
  clock: Clock;
  ids: Pick<Ids, 'uuid'>;
  log: Log;
}

/**
 * The time of the store, as far as it is known. Windows of calls are announced by one process and judged by others: each
 * would take a call for over, or for under way, by as much as its clock is wrong.
 */
export const storeTime = (clock: Clock, { skewMs }: Pick<ClockCheck, 'skewMs'>): Clock => ({
  ...clock,
  // The monotonic clock has fractions; instants on record are whole milliseconds.
  now: () => Math.round(clock.now() - (skewMs() ?? 0)),
});

/** What `/readyz` names of it. */
export const degradedByClock = ({ isWrong }: Pick<ClockCheck, 'isWrong'>): readonly string[] =>
  isWrong() ? ['clock-skew'] : [];

const stream = 'clock-check';
/** More than there are processes that compare at the same moment: each reads its own event back. */
const eventsKept = 100;
/** Between two comparisons, milliseconds. */
const intervalMs = 30_000;
/**
 * A comparison that took longer tells nothing, milliseconds: it is by how much the store's time may be wrong, and with it the windows of
 * calls, whatever skew is tolerated. Two processes may be wrong in opposite directions; twice this stays well within the time that a
 * provider may go on working on a call (`PROVIDER_QUIET_MS`). A store that is slower than this records no announcement in time either.
 */
const comparisonMaxMs = 5_000;
/** How long a comparison tells the store's time: two more may fail, milliseconds. */
const knownForMs = 2 * intervalMs + comparisonMaxMs;
/** A time that has been unknown for longer is told, and leaves what is due to others, milliseconds. */
const unknownMaxMs = 10_000;
/** That the clocks cannot be compared is logged again after this, milliseconds. */
const tellAgainMs = 5 * 60_000;
/** After a comparison that failed, milliseconds. */
const retryMs = 1_000;

/** A wall clock that goes on beside the monotonic one by more than this has jumped, or the other has stood still, milliseconds. */
const jumpMs = 1_000;

/** Of wall clocks, and so what two that agree may be apart, milliseconds. */
const grainMs = 1;

/** Bounds of what is to be added to our monotonic clock to get the store's time, milliseconds. */
interface StoreTime {
  min: number;
  max: number;
}

const widthOf = ({ min, max }: StoreTime): number => max - min;

/**
 * What is known of the store's time after one more comparison. A slower one than before only narrows it: a process that knew the time well
 * is not led astray. Where both cannot be true, the store's clock was set.
 */
function narrowed(known: StoreTime, compared: StoreTime): StoreTime {
  if (widthOf(compared) <= widthOf(known)) return compared;
  const both = { min: Math.max(known.min, compared.min), max: Math.min(known.max, compared.max) };
  return both.min <= both.max ? both : compared;
}

export function createClockCheck(deps: ClockCheckDependencies): ClockCheck {
  const { clock, log, skewMaxMs } = deps;
  let storeTime: StoreTime | undefined;
  let ownAtComparison: number | undefined;
  let comparedAt = -Infinity;
  let unknownSince: number | undefined = clock.monotonic();
  let jump = new AbortController();
  let comparison = Promise.withResolvers<undefined>();

  const ownTime = () => clock.now() - clock.monotonic();
  // After a sleep that the monotonic clock has not counted, the time of the store is not what it is taken for.
  const hasJumped = (since: number) => Math.abs(ownTime() - since) > jumpMs;
  function isKnown(): boolean {
    const isRecent = clock.monotonic() - comparedAt <= knownForMs;
    const isIt = isRecent && ownAtComparison !== undefined && !hasJumped(ownAtComparison);
    if (!isIt && ownAtComparison !== undefined) jump.abort();
    unknownSince = isIt ? undefined : (unknownSince ?? clock.monotonic());
    return isIt;
  }
  const isLost = () => !isKnown() && clock.monotonic() - (unknownSince ?? Infinity) > unknownMaxMs;
  function skewMs(): number | undefined {
    if (storeTime === undefined) return undefined;
    isKnown();
    const own = ownTime();
    const apartMs = own - Math.min(Math.max(own, storeTime.min), storeTime.max);
    return Math.abs(apartMs) <= grainMs ? 0 : apartMs;
  }
  const isTrusted = () => Math.abs(skewMs() ?? Infinity) <= skewMaxMs && !isLost();

  async function compare(): Promise<void> {
    const [own, at] = [ownTime(), clock.monotonic()];
    const compared = await readStoreTime(deps);
    // At each start, so that a process that died before this leaves no stream that grows.
    if (storeTime === undefined) await deps.store.keepLast(stream, eventsKept);
    const isSteady = ownAtComparison !== undefined && !hasJumped(ownAtComparison);
    storeTime = isSteady && storeTime !== undefined ? narrowed(storeTime, compared) : compared;
    [ownAtComparison, comparedAt] = [own, at];
    comparison.resolve(undefined);
    comparison = Promise.withResolvers();
    const report = { skewMs: skewMs(), operation: 'clock-check' };
    if (!isTrusted()) log.warn(report, 'the clock of this process and that of the event store differ');
  }

  return {
    ...{ skewMs, isTrusted, isKnown },
    isWrong: () => !isTrusted() && (storeTime !== undefined || isLost()),
    nextComparison: () => comparison.promise,
    async run(signal) {
      let toldAt = -Infinity;
      while (!signal.aborted) {
        jump = new AbortController();
        const failure = await compare().then(
          () => undefined,
          (error: unknown) => ({ error }),
        );
        if (failure === undefined) toldAt = -Infinity;
        else if (clock.monotonic() - toldAt >= tellAgainMs) {
          // Not each time: it is tried every second.
          log.warn(failure, 'the clocks could not be compared');
          toldAt = clock.monotonic();
        }
        const [ms, until] = failure
          ? [retryMs, signal]
          : [intervalMs, AbortSignal.any([signal, jump.signal])];
        await clock.sleep(ms, until).catch(() => undefined);
      }
    },
  };
}

async function readStoreTime({ store, clock, ids }: ClockCheckDependencies): Promise<StoreTime> {
  const id = ids.uuid();
  const before = clock.monotonic();
  // A repeat of the append would do no harm: any of these events tells the store's time.
  const appended = await store.append(
    stream,
    [{ id, type: 'ClockCompared', data: { at: clock.now() }, metadata: {} }],
    'any',
  );
  const after = clock.monotonic();
  if (appended.kind === 'conflict')
    throw new TollgateError('clock_check_failed', 'An append that expected nothing met a conflict.');
  const tookMs = Math.round(after - before);
  if (tookMs > comparisonMaxMs)
    throw new TollgateError(
      'clock_check_failed',
      `The store took ${tookMs} ms to answer; more than ${comparisonMaxMs} ms tell nothing about its clock.`,
    );
  for await (const event of store.read(stream, { from: appended.revision, limit: 1 }))
    if (event.id === id) return { min: event.recordedAt - after, max: event.recordedAt - before };
  throw new TollgateError(
    'clock_check_failed',
    'Others have written so much meanwhile that our event is gone.',
  );
}
