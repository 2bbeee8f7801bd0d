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
import { createBackground } from './background.ts';
import { type CallbackConsumerDependencies, consumeCallbacks } from './callback-consumer.ts';
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

export function createCommandService(deps: CommandServiceDependencies): CommandService {
  const { ids } = deps;
  const background = createBackground(deps);
  const payments = createPayments(deps);
  const calls = createCreationCalls({ ...deps, payments, stopping: background.signal });
  const looking = { ...deps, payments, calls };
  const looks = createLooks<Cause>((token, cause) => look(looking, token, cause), background.signal);

  /** A look for a callback. One that comes before the creation's answer is followed by a look after the answer. */
  async function lookForCallback(token: string, cause: Cause): Promise<LookResult> {
    const result = await looks.request(token, cause);
    if (result === 'awaiting-answer')
      background.once(calls.settled(token).then(() => looks.request(token, cause)));
    return result;
  }

  async function lookForFollowUp(token: string): Promise<LookResult> {
    const id = ids.uuid();
    const actor = { kind: 'service' as const, name: 'follow-up' };
    return looks.request(token, { correlationId: id, causationId: id, actor });
  }

  const callbacks: CallbackConsumerDependencies = {
    ...deps,
    look: lookForCallback,
    lookForSecondPayment: (token, serviceToken, cause) =>
      lookForSecondPayment(looking, token, serviceToken, cause),
    async noteUnapplied(token, reason, cause) {
      await payments.execute(token, { type: 'RecordUnappliedCallback', reason }, cause);
    },
  };

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
      background.always((signal) => consumeCallbacks(callbacks, signal));
      background.always((signal) =>
        deps.runAlone('follow-up', signal, (held) => followUp({ ...deps, look: lookForFollowUp }, held)),
      );
    },
    async stop() {
      await background.stop();
      await calls.idle();
      await looks.idle();
    },
  };
}
