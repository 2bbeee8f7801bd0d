/**
 * Decides, announces, calls and records. It is the only service that speaks to the Payment Service, and the only one that
 * writes payments.
 */
import type { EventStore } from '@tollgate/event-store';
import type { MessageBus } from '@tollgate/message-bus';
import type { TeamDirectory } from '@tollgate/read-models';
import type { Clock, Ids, Log } from '@tollgate/service-kit';
import type { FastifyInstance } from 'fastify';
import type { Account, CallTimes } from './account.ts';
import { consumeCallbacks } from './callback-consumer.ts';
import { createCreationCalls } from './creation-call.ts';
import { type FollowUpDependencies, followUp } from './follow-up.ts';
import { type LookResult, look, lookForSecondPayment } from './look.ts';
import { createLooks } from './looks.ts';
import { type Cause, createPayments } from './payments.ts';
import { registerCommandRoutes } from './routes.ts';

export interface CommandServiceDependencies {
  store: EventStore;
  bus: MessageBus;
  directory: TeamDirectory;
  openPayments: FollowUpDependencies['openPayments'];
  account: Account;
  times: CallTimes;
  /** Address that the Payment Service is given for the callbacks of one payment. */
  callbackUrlOf: (environment: string, token: string) => string;
  /** Does work while no other process does the work of that name. */
  runAlone: (
    name: string,
    signal: AbortSignal,
    work: (signal: AbortSignal) => Promise<void>,
  ) => Promise<void>;
  clock: Clock;
  ids: Ids;
  log: Log;
}

export interface CommandService {
  registerRoutes(app: FastifyInstance): void;
  /** Begins to apply callbacks and to follow up open payments. */
  start(): void;
  /** Ends both, and waits until every call and look under way has been recorded. */
  stop(): Promise<void>;
}

/** Pause before work that has ended by a failure begins again, milliseconds. */
const restartPauseMs = 1_000;

export function createCommandService(deps: CommandServiceDependencies): CommandService {
  const { ids, log } = deps;
  const payments = createPayments(deps);
  const stopping = new AbortController();
  const calls = createCreationCalls({ ...deps, payments, stopping: stopping.signal });
  const looking = { ...deps, payments, calls };
  const looks = createLooks<Cause>((token, cause) => look(looking, token, cause), stopping.signal);
  const background = new Set<Promise<unknown>>();

  function inBackground(work: Promise<unknown>): void {
    const tracked = work
      .catch((error: unknown) => log.error({ error }, 'work in the background failed'))
      .finally(() => background.delete(tracked));
    background.add(tracked);
  }

  /** Whatever ends this work before the stop is logged, and it begins again: no payment may be left without its schedule. */
  async function untilStopped(work: (signal: AbortSignal) => Promise<void>): Promise<void> {
    const { signal } = stopping;
    while (!signal.aborted) {
      await work(signal).catch((error: unknown) =>
        log.error({ error }, 'work in the background failed; it begins again'),
      );
      await deps.clock.sleep(restartPauseMs, signal).catch(() => undefined);
    }
  }

  /** A look for a callback. One that comes before the creation's answer is followed by a look after the answer. */
  async function lookForCallback(token: string, cause: Cause): Promise<LookResult> {
    const result = await looks.request(token, cause);
    if (result === 'awaiting-answer')
      inBackground(calls.settled(token).then(() => looks.request(token, cause)));
    return result;
  }

  async function lookForFollowUp(token: string): Promise<LookResult> {
    const id = ids.uuid();
    return looks.request(token, {
      correlationId: id,
      causationId: id,
      actor: { kind: 'service', name: 'follow-up' },
    });
  }

  return {
    registerRoutes(app) {
      registerCommandRoutes(app, {
        ...deps,
        payments,
        calls,
        look: (token, cause) => looks.request(token, cause),
      });
    },
    start() {
      const callbacks = {
        ...deps,
        look: lookForCallback,
        lookForSecondPayment: (token: string, serviceToken: string, cause: Cause) =>
          lookForSecondPayment(looking, token, serviceToken, cause),
        async noteUnapplied(token: string, reason: string, cause: Cause): Promise<void> {
          await payments.execute(token, { type: 'RecordUnappliedCallback', reason }, cause);
        },
      };
      inBackground(untilStopped((signal) => consumeCallbacks(callbacks, signal)));
      inBackground(
        untilStopped((signal) =>
          deps.runAlone('follow-up', signal, (held) => followUp({ ...deps, look: lookForFollowUp }, held)),
        ),
      );
    },
    async stop() {
      stopping.abort();
      while (background.size > 0) await Promise.all([...background]);
      await calls.idle();
      await looks.idle();
    },
  };
}
