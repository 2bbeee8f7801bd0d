/** Sends due webhooks. The open ones are known from the webhooks' own streams, so they survive any stop. */
import type { EventStore, RecordedEvent } from '@tollgate/event-store';
import { type Clock, type Ids, type Log, errorCode, isRetryable } from '@tollgate/service-kit';
import type { Deliveries } from './deliveries.ts';
import { tryToDeliver, type DeliveryDependencies } from './delivery.ts';
import type { EndpointBook } from './endpoints/endpoint-book.ts';
import { webhookStreamPrefix, queueOfStream } from './webhook-events.ts';
import { type LoadedWebhooks, type WebhookJournal, notifier } from './webhook-journal.ts';
import { retryPausesMs } from './retry-schedule.ts';
import { dueWebhook, type Outcome, isAccepted, isGone, type Webhook } from './webhook-state.ts';
import { createOpenSubjects, type OpenSubjects } from './open-subjects.ts';
import type { Limits } from './fair-queue.ts';

export interface DispatcherDependencies extends DeliveryDependencies {
  store: EventStore;
  journal: WebhookJournal;
  book: Pick<EndpointBook, 'find' | 'change'>;
  deliveries: Pick<Deliveries, 'open'>;
  clock: Clock;
  ids: Ids;
  log: Log;
  limits?: Limits;
}

/** A forward jump of the clock wakes no timer, so the clock is checked at this interval. */
const longestSleepMs = 60_000;
const shortestSleepMs = 50;

/** Delivers until the signal is aborted; attempts in progress then do not count. @throws errors of the store */
export async function dispatchWebhooks(
  deps: DispatcherDependencies,
  signal: AbortSignal,
  gotOn: () => void,
): Promise<void> {
  const failing = new AbortController();
  const both = AbortSignal.any([signal, failing.signal]);
  const open = createOpenSubjects(deps.limits);
  const from = await deps.deliveries.open();
  const sender = createSender(deps, { open, health: createEndpointHealth(deps) }, both);
  const ending = (error: unknown) => {
    failing.abort();
    throw error;
  };
  const taking = { from, open, wake: sender.wake, signal: both, gotOn };
  const work = [takeIn(deps, taking), sender.run()].map((each) => each.catch(ending));
  const ended = await Promise.allSettled(work);
  for (const each of ended) if (each.status === 'rejected') throw each.reason;
}

/** Collects the open queues: first from the list of webhooks, then those recorded since. */
async function takeIn(
  deps: DispatcherDependencies,
  {
    from: { position: from, queues },
    open,
    wake,
    signal,
    gotOn,
  }: {
    from: Awaited<ReturnType<Deliveries['open']>>;
    open: OpenSubjects;
    wake: () => void;
    signal: AbortSignal;
    gotOn: () => void;
  },
): Promise<void> {
  const { store, journal, log } = deps;
  for (const queue of queues) await load(queue);
  for await (const item of store.subscribe({ from, prefixes: [webhookStreamPrefix], signal })) {
    if (item.kind === 'event') await take(item);
    gotOn();
  }

  async function take(event: RecordedEvent): Promise<void> {
    const token = queueOfStream(event.stream);
    // An attempt for a subject that is not open has no consequence.
    const opens = event.type === 'WebhookDue' || event.type === 'ReplayRequested';
    if (open.isKnown(token, event.revision) || !(opens || open.has(token))) return;
    await load(token);
  }

  async function load(token: string): Promise<void> {
    try {
      open.update(token, await journal.load(token));
      wake();
    } catch (error) {
      if (isRetryable(error)) throw error;
      log.error({ error, token }, 'the webhooks of a subject cannot be read; they are skipped');
      open.forget(token);
    }
  }
}

function createSender(
  deps: DispatcherDependencies,
  { open, health }: { open: OpenSubjects; health: EndpointHealth },
  signal: AbortSignal,
) {
  const { journal, clock, log } = deps;
  const underWay = new Set<Promise<void>>();
  /** The error of the last failed write of an attempt. */
  let failing: string | undefined;
  let sleeping = new AbortController();
  /** A webhook may have become due. */
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
      open.update(token, await deliverDue(token));
      open.release(token);
      if (failing !== undefined) log.info({ code: failing }, 'delivery attempts can be recorded again');
      failing = undefined;
    } catch (error) {
      const isPassing = isRetryable(error);
      const code = errorCode(error) ?? 'unknown';
      // An unavailable store is logged once, not for each waiting webhook.
      if (isPassing && failing !== code)
        log.error({ error, token }, 'delivery attempts cannot be recorded; they are repeated');
      if (isPassing) failing = code;
      else
        log.error({ error, token }, 'the webhooks of a subject cannot be read or written; they are skipped');
      // A damaged stream does not recover, so it is not retried.
      if (!isPassing) open.forget(token);
      open.putOff(token, clock.now());
    }
  }

  async function deliverDue(token: string): Promise<LoadedWebhooks> {
    const loaded = await journal.load(token);
    const webhook = dueWebhook(loaded.state, clock.now());
    if (webhook === undefined) return loaded;
    const triedAt = clock.now();
    const outcome = await tryToDeliver(deps, webhook, signal);
    if (outcome === undefined) return loaded;
    // First, so that a crash in between loses nothing: open webhooks are then abandoned.
    await health.note(webhook, outcome, triedAt);
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
      // Rejects when woken or stopped; the loop distinguishes the two.
      await clock.sleep(sleepMs, AbortSignal.any([signal, sleeping.signal])).catch(() => undefined);
    }
    await Promise.all(underWay);
  }

  return { wake, run };
}

function logTry(log: Log, token: string, team: string, outcome: Outcome): void {
  if (outcome.kind === 'abandoned') return;
  const what = outcome.kind === 'answered' ? { statusCode: outcome.statusCode } : { code: outcome.reason };
  log.debug({ token, team, ...what }, 'attempted to deliver a webhook');
}

type EndpointHealth = ReturnType<typeof createEndpointHealth>;

export function createEndpointHealth({
  book,
  clock,
  log,
}: {
  book: Pick<EndpointBook, 'change'>;
  clock: Clock;
  log: Log;
}) {
  /** Since this process began to deliver: one webhook that is always refused does not count against the others. */
  const lastDeliveredAt = new Map<string, number>();

  function reasonOf(webhook: Webhook, endpoint: string, outcome: Outcome): 'gone' | 'given_up' | undefined {
    if (webhook.body.type === 'test' || outcome.kind === 'abandoned') return undefined;
    if (isGone(webhook, outcome)) return 'gone';
    const isGivenUp = webhook.state === 'open' && webhook.failuresInRow >= retryPausesMs.length;
    const since = webhook.deliveries.at(-webhook.failuresInRow)?.at ?? 0;
    return isGivenUp && (lastDeliveredAt.get(endpoint) ?? -1) < since ? 'given_up' : undefined;
  }

  return {
    /** Call before the outcome of the attempt that began then is recorded. @throws errors of the store */
    async note(webhook: Webhook, outcome: Outcome, triedAt: number): Promise<void> {
      const { id, environment, team, endpoint } = webhook;
      if (endpoint === undefined) return;
      const at = clock.now();
      if (isAccepted(outcome)) {
        lastDeliveredAt.set(endpoint, at);
        return;
      }
      const reason = reasonOf(webhook, endpoint, outcome);
      if (reason === undefined) return;
      const command = { type: 'Disable', id: endpoint, reason, webhook: id, triedAt, at } as const;
      const answer = await book.change({ environment, team }, command, notifier);
      if (answer.kind === 'done' && answer.events.length > 0)
        log.warn({ team, token: endpoint, code: reason }, 'a webhook endpoint is disabled');
    },
  };
}
