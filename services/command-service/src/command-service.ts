/**
 * Decides, announces, calls and records. It is the only service that speaks to the Payment Service, and the only one that
 * writes payments, payouts and disputes.
 */
import type { EventStore } from '@tollgate/event-store';
import type { MessageBus } from '@tollgate/message-bus';
import type { TeamDirectory } from '@tollgate/teams';
import type { Clock, Ids, Log } from '@tollgate/service-kit';
import type { FastifyInstance } from 'fastify';
import type { Accounts } from './accounts/accounts.ts';
import { createBackground } from './background.ts';
import { type UnappliedCallback, consumeCallbacks } from './callback-consumer.ts';
import { createAnnouncedCalls } from './calls/announced-calls.ts';
import type { CallTimes } from './calls/call-times.ts';
import { createPaymentCalls } from './calls/payment-calls.ts';
import { createPayoutCalls } from './calls/payout-calls.ts';
import { type DisputesPollerDependencies, createDisputesPoller } from './disputes/disputes-poller.ts';
import { createAskAccount } from './inquiries/ask-account.ts';
import { type InquiryScheduleDependencies, runInquirySchedule } from './inquiries/inquiry-schedule.ts';
import { inquireAbout, inquireForSecond, noteUnapplied } from './inquiries/inquire.ts';
import { createInquiryOnRead } from './inquiries/inquire-on-read.ts';
import type { InquiryResult } from './inquiries/inquiry-result.ts';
import { createInquiries } from './inquiries/inquiries.ts';
import { createBalances } from './operations/balance.ts';
import { registerReviewRoutes } from './routes/review-routes.ts';
import { registerMoneyRoutes } from './routes/money-routes.ts';
import { registerPaymentRoutes } from './routes/payment-routes.ts';
import { createPayments } from './streams/payments.ts';
import { createPayouts } from './streams/payouts.ts';
import { createRecurringTokens } from './streams/recurring-tokens.ts';
import { createRefundKeys } from './streams/refund-keys.ts';
import type { Cause } from './streams/repository.ts';

export interface CommandServiceDependencies {
  store: EventStore;
  bus: MessageBus;
  directory: TeamDirectory;
  /** What more is expected of, from the read models. */
  openPayments: InquiryScheduleDependencies['openItems'];
  openPayouts: InquiryScheduleDependencies['openItems'];
  findByServiceToken: DisputesPollerDependencies['findByServiceToken'];
  accounts: Accounts;
  times: CallTimes;
  /** Address that the Payment Service is given for the callbacks of one payment or payout. */
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
  /** Somebody reads a payment or payout whose outcome nobody knows: it is looked up, at once and not too often. */
  inquireForReader(token: string): void;
  /** Begins to apply callbacks, to follow up what is open, and to read the disputes. */
  start(): void;
  /** Ends that, and waits until every call and look under way has been recorded. */
  stop(): Promise<void>;
}

export function createCommandService(deps: CommandServiceDependencies): CommandService {
  const background = createBackground(deps);
  const inside = createInside(deps, background.signal);
  const { payments, calls, inquiries, disputes } = inside;

  /** A look for a callback. One that comes before the call's answer is followed by a look after the answer. */
  async function inquireForCallback(token: string, cause: Cause): Promise<InquiryResult> {
    const result = await inquiries.request(token, cause);
    if (result === 'awaiting-answer')
      background.once(calls.settled(token).then(() => inquiries.request(token, cause)));
    return result;
  }

  const inquireForReader = createInquiryOnRead({
    ...deps,
    inquire: (token) => background.once(inquiries.request(token, causeOf(deps, 'read'))),
  });

  const callbacks = {
    ...deps,
    inquire: inquireForCallback,
    nudgeDisputes: () => disputes.nudge(),
    inquireForSecond: (token: string, serviceToken: string, cause: Cause) =>
      inquireForSecond(inside, token, serviceToken, cause),
    async recordRefundDeclined(token: string, serviceRefundToken: string, cause: Cause) {
      if ((await payments.load(token)) === undefined) return;
      await payments.execute(token, { type: 'RecordRefundDeclined', serviceRefundToken }, cause);
    },
    noteUnapplied: (unapplied: UnappliedCallback, cause: Cause) => noteUnapplied(inside, unapplied, cause),
  };

  return {
    registerRoutes(app) {
      registerPaymentRoutes(app, inside);
      registerMoneyRoutes(app, inside);
      registerReviewRoutes(app, inside);
    },
    inquireForReader,
    start() {
      background.always((signal) => consumeCallbacks(callbacks, signal));
      background.always((signal) =>
        deps.runAlone('inquiry-schedule', signal, (held) => runInquirySchedules(deps, inquiries, held)),
      );
      background.always((signal) => deps.runAlone('disputes', signal, (held) => disputes.run(held)));
    },
    async stop() {
      await background.stop();
      await calls.idle();
      await inquiries.idle();
    },
  };
}

/** The parts, each made once: streams, calls, looks, and what the routes are given. */
function createInside(deps: CommandServiceDependencies, stopping: AbortSignal) {
  const streams = {
    payments: createPayments(deps),
    payouts: createPayouts(deps),
    recurringTokens: createRecurringTokens(deps),
    refundKeys: createRefundKeys(deps),
  };
  const calls = createAnnouncedCalls({ ...deps, stopping });
  const askAccount = createAskAccount({ ...deps, stopping });
  const base = { ...deps, ...streams, calls, askAccount };
  const carryOut = createPaymentCalls(base);
  const carryOutPayout = createPayoutCalls(base);
  const inquiring = { ...base, carryOut };
  const inquiries = createInquiries<Cause>((token, cause) => inquireAbout(inquiring, token, cause), stopping);
  const inquire = (token: string, cause: Cause) => inquiries.request(token, cause);
  const balances = createBalances(deps);
  const disputes = createDisputesPoller(deps);
  return { ...base, carryOut, carryOutPayout, inquiries, inquire, balances, disputes };
}

async function runInquirySchedules(
  deps: CommandServiceDependencies,
  inquiries: { request(token: string, cause: Cause): Promise<InquiryResult> },
  signal: AbortSignal,
): Promise<void> {
  const inquire = (token: string) => inquiries.request(token, causeOf(deps, 'inquiry-schedule'));
  await Promise.all([
    runInquirySchedule({ ...deps, inquire, openItems: deps.openPayments }, signal),
    runInquirySchedule({ ...deps, inquire, openItems: deps.openPayouts }, signal),
  ]);
}

/** What our own looks are set off by. */
function causeOf({ ids }: Pick<CommandServiceDependencies, 'ids'>, name: string): Cause {
  const id = ids.uuid();
  return { correlationId: id, causationId: id, actor: { kind: 'service', name } };
}
