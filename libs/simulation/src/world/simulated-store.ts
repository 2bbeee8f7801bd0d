/** The event store as one process reaches it: every call takes time, and may fail in every way the port allows. */
import {
  type CaughtUp,
  type EventStore,
  type RecordedEvent,
  type SubscribeOptions,
  serializeAppend,
} from '@tollgate/event-store';
import { hostOf, stopBehindAppend } from '../faults/disasters.ts';
import type { FaultKind } from '../faults/faults.ts';
import type { World } from '../world.ts';
import { type EventLog, storeDown } from './event-log.ts';
import type { Life } from './machine.ts';

/** Maximum number of events in one delivery of a subscription. */
const windowMax = 200;
/** No money depends on these streams. Faults here would only mask those that matter. */
const isBeat = (stream: string): boolean => stream === 'members';

export function createSimulatedStore(world: World, life: Life): EventStore {
  const { log, faults, scheduler } = world;
  const weather = weatherOf(world, life);
  const { random } = life;
  const travel = () => ({
    thereMs: random.between(0.2, 3),
    backMs: random.chance(0.02) ? random.between(5, 400) : random.between(0.2, 3),
  });

  const ask = <Answer>(label: string, atStore: () => Answer): Promise<Answer> =>
    life.ask(label, travel(), () => {
      if (weather.isDown()) throw storeDown();
      return atStore();
    });
  const strikes = (kind: FaultKind, stream: string) => !isBeat(stream) && faults.strikes(kind, random);

  const append: EventStore['append'] = async (stream, events, expected, options) => {
    // Copied now: the caller may change its objects afterwards.
    const wanted = { events: serializeAppend(stream, events).events, expected, options };
    return ask(`append ${stream}`, () => {
      if (strikes('append-failed', stream)) throw storeDown();
      if (strikes('append-hidden', stream)) {
        const decide = log.hide(stream, wanted);
        const fate = random.pick(['shown', 'lost'] as const);
        scheduler.after(random.between(200, 8_000), `${stream} is ${fate}`, () => decide(fate));
        throw storeDown();
      }
      const answer = log.append(stream, wanted);
      if (!isBeat(stream)) stopBehindAppend(world, life, stream);
      if (weather.areAnswersLost() || strikes('append-answer-lost', stream)) throw storeDown();
      return answer;
    });
  };

  return {
    append,
    async *read(stream, options) {
      yield* await ask(`read ${stream}`, () => {
        if (weather.areAnswersLost() || strikes('read-failed', stream)) throw storeDown();
        return log.read(stream, options);
      });
    },
    head: () => ask('head', log.head),
    subscribe: (options) => subscription(world, life, options),
    truncate: (stream, before) =>
      ask(`truncate ${stream}`, () => {
        log.truncate(stream, before);
        if (weather.areAnswersLost()) throw storeDown();
      }),
    close: async () => undefined,
  };
}

const weatherOf = ({ downUntil, partitions, scheduler }: World, { machine }: Life) => ({
  isDown: () => scheduler.now() < downUntil.store || partitions.isCut(machine, 'store'),
  /** Requests arrive, but their answers are lost. */
  areAnswersLost: () => partitions.isCut('store', machine),
});

async function* subscription(
  world: World,
  life: Life,
  { from, prefixes, signal }: SubscribeOptions,
): AsyncGenerator<RecordedEvent | CaughtUp, void, void> {
  const { log, faults } = world;
  const weather = weatherOf(world, life);
  const isAborted = () => signal.aborted;
  const { random } = life;
  const onTaken = (): void => {
    const process = hostOf(world, life)?.process;
    if (life.isAlive() && process !== undefined) world.checks.indexes.onTaken(process, life.name);
  };
  let scannedTo = from;
  let isEndReported = false;
  while (!isAborted()) {
    const news = watch(log, life, prefixes, signal);
    // Followers may lag behind one another; their responses and notifications differ during that time.
    const backMs = faults.strikes('subscription-slow', random)
      ? random.between(100, 4_000)
      : random.between(0.1, 5);
    const window = await untilAborted(
      signal,
      life.ask('subscription', { thereMs: random.between(0.1, 2), backMs }, () =>
        // A subscription survives store failures: it only waits.
        weather.isDown() || weather.areAnswersLost() ? undefined : log.scan(scannedTo, prefixes, windowMax),
      ),
    );
    if (window === undefined) {
      news.end();
      await life.clock.sleep(250, signal).catch(() => undefined);
      continue;
    }
    isEndReported &&= window.scannedTo === scannedTo;
    scannedTo = window.scannedTo;
    for (const event of window.events) {
      if (isAborted()) break;
      yield event;
      onTaken();
    }
    if (window.isEnd) {
      if (!isEndReported && !isAborted()) {
        yield { kind: 'caught-up', position: scannedTo };
        onTaken();
      }
      isEndReported = true;
      if (!isAborted()) await news.arrived;
    }
    news.end();
  }
}

/** Resolves when an event of these streams becomes visible, or when the signal is aborted. */
function watch(log: EventLog, life: Life, prefixes: readonly string[], signal: AbortSignal) {
  const { promise, resolve } = Promise.withResolvers<undefined>();
  const arrive = () => resolve(undefined);
  const unlisten = log.onEvent(({ stream }) => {
    if (!life.isAlive()) unlisten();
    else if (prefixes.some((prefix) => stream.startsWith(prefix))) life.deliver(0.1, 'news', arrive);
  });
  signal.addEventListener('abort', arrive, { once: true });
  return {
    arrived: promise,
    end: () => {
      unlisten();
      signal.removeEventListener('abort', arrive);
    },
  };
}

function untilAborted<Value>(signal: AbortSignal, waited: Promise<Value>): Promise<Value | undefined> {
  if (signal.aborted) return Promise.resolve(undefined);
  return new Promise((resolve, reject) => {
    const abort = () => resolve(undefined);
    signal.addEventListener('abort', abort, { once: true });
    waited.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort));
  });
}
