/** Sends what is due. What is open is known from the webhooks' own streams, so it survives any stop. */
import { beginning, type EventStore, type Position, type RecordedEvent } from '@tollgate/event-store';
import type { Clock, Ids, Log } from '@tollgate/service-kit';
import { z } from 'zod';
import { createCheckpoint, type Checkpoint } from './checkpoint.ts';
import { tryToDeliver, type DeliveryDependencies } from './delivery.ts';
import { webhookStreamPrefix, tokenOfWebhookStream } from './webhook-events.ts';
import { isPassing, type LoadedWebhooks, type WebhookJournal } from './webhook-journal.ts';
import { dueWebhook } from './webhook-state.ts';
import { createOpenSubjects, type OpenCheckpoint, type OpenSubjects } from './open-subjects.ts';
import type { Limits } from './turns.ts';

export interface DispatcherDependencies extends DeliveryDependencies {
  store: EventStore;
  journal: WebhookJournal;
  clock: Clock;
  ids: Ids;
  log: Log;
  limits?: Limits;
}

/** Pause of a subject after its webhooks could not be read or written, milliseconds. */
const pauseAfterFailureMs = 1_000;
/** The clock's time may jump forward, which wakes no sleeper: it is looked at as often as this. */
const longestSleepMs = 60_000;
const shortestSleepMs = 50;

const checkpointOptions = {
  name: 'notifier_deliveries',
  schema: z.object({
    position: z.string().transform((text) => text as Position),
    tokens: z.array(z.string()),
  }),
  initial: { position: beginning, tokens: [] as string[] },
};

/** Delivers until the signal is aborted; tries that are under way then count for nothing. @throws what the store throws */
export async function dispatchWebhooks(deps: DispatcherDependencies, signal: AbortSignal): Promise<void> {
  const failing = new AbortController();
  const both = AbortSignal.any([signal, failing.signal]);
  const open = createOpenSubjects(deps.limits);
  const sender = createSender(deps, open, both);
  const ending = (error: unknown) => {
    failing.abort();
    throw error;
  };
  const work = [takeIn(deps, open, sender.wake, both), sender.run()].map((each) => each.catch(ending));
  const ended = await Promise.allSettled(work);
  for (const each of ended) if (each.status === 'rejected') throw each.reason;
}

/** Learns of what is open: first what the checkpoint lists, then what has been recorded since. */
async function takeIn(
  deps: DispatcherDependencies,
  open: OpenSubjects,
  wake: () => void,
  signal: AbortSignal,
): Promise<void> {
  const { store, journal, log } = deps;
  const checkpoint: Checkpoint<OpenCheckpoint> = createCheckpoint(deps, checkpointOptions);
  const { position: from, tokens } = await checkpoint.read();
  for (const token of tokens) await load(token, undefined);
  let after = from;
  for await (const item of store.subscribe({ from, prefixes: [webhookStreamPrefix], signal })) {
    if (item.kind === 'event') await take(item);
    after = item.position;
    await checkpoint.write(() => open.checkpoint(item.position));
  }

  async function take(event: RecordedEvent): Promise<void> {
    const token = tokenOfWebhookStream(event.stream);
    // Tries of a subject that is not open, and of those nothing follows.
    const opens = event.type === 'WebhookDue' || event.type === 'ReplayRequested';
    if (open.isKnown(token, event.revision) || !(opens || open.has(token))) return;
    await load(token, after);
  }

  async function load(token: string, position: Position | undefined): Promise<void> {
    try {
      open.update(token, await journal.load(token), position);
      wake();
    } catch (error) {
      if (isPassing(error)) throw error;
      log.error({ error, token }, 'the webhooks of a subject cannot be read; they are left alone');
      open.forget(token);
    }
  }
}

interface Sender {
  /** Something may have become due. */
  wake(): void;
  run(): Promise<void>;
}

function createSender(deps: DispatcherDependencies, open: OpenSubjects, signal: AbortSignal): Sender {
  const { journal, clock, log } = deps;
  const underWay = new Set<Promise<void>>();
  let sleeping = new AbortController();
  const wake = () => sleeping.abort();

  function startDue(): void {
    for (let token = open.take(clock.now()); token !== undefined; token = open.take(clock.now())) {
      const work = deliverNextOf(token).finally(() => {
        underWay.delete(work);
        wake();
      });
      underWay.add(work);
    }
  }

  async function deliverNextOf(token: string): Promise<void> {
    try {
      const loaded = await deliverDue(token);
      open.update(token, loaded);
      open.release(token);
    } catch (error) {
      log.error({ error, token }, 'a try to notify could not be recorded; it is made again');
      // A stream that cannot be read will not get better by itself.
      if (!isPassing(error)) open.forget(token);
      open.release(token, clock.now() + pauseAfterFailureMs);
    }
  }

  async function deliverDue(token: string): Promise<LoadedWebhooks> {
    const loaded = await journal.load(token);
    const webhook = dueWebhook(loaded.state, clock.now());
    if (webhook === undefined) return loaded;
    const outcome = await tryToDeliver(deps, webhook, signal);
    if (outcome === undefined) return loaded;
    const recorded = await journal.recordOutcome(token, webhook.id, outcome);
    logTry(log, token, webhook.team, outcome);
    return recorded;
  }

  async function run(): Promise<void> {
    while (!signal.aborted) {
      sleeping = new AbortController();
      startDue();
      const waitMs = (open.nextDueAt() ?? Infinity) - clock.now();
      const sleepMs = Math.min(Math.max(waitMs, shortestSleepMs), longestSleepMs);
      // Rejects when it is woken or stopped, and the loop sees which.
      await clock.sleep(sleepMs, AbortSignal.any([signal, sleeping.signal])).catch(() => undefined);
    }
    await Promise.all(underWay);
  }

  return { wake, run };
}

function logTry(
  log: Log,
  token: string,
  team: string,
  outcome: { kind: 'answered'; statusCode: number } | { kind: 'failed'; reason: string },
): void {
  const what = outcome.kind === 'answered' ? { statusCode: outcome.statusCode } : { code: outcome.reason };
  log.debug({ token, team, ...what }, 'tried to notify a team');
}
