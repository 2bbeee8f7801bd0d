/**
 * Decides, announces, calls and records. It is the only service that calls providers, and the only one that writes
 * payments, payouts and disputes.
 */
import type { MessageBus } from '@tollgate/message-bus';
import { createUnmatchedOperations } from '@tollgate/books';
import {
  type InquiryDelays,
  type Cause,
  subjectsOf,
  type CoreDependencies,
  createCore,
  inquiryScheduleName,
  inquireNamed,
  quietPeriodMs,
} from '@tollgate/core';
import type { OperatorCredentials, SecurityWatch, TeamDirectory, TeamKeys } from '@tollgate/teams';
import type { FastifyInstance } from 'fastify';
import { type DisputesPollerDependencies, createDisputesPoller } from '@tollgate/disputes';
import { createApprovalGuard } from '@tollgate/approvals';
import {
  createBalances,
  createBalanceAndLimitGuard,
  createWalletReservations,
  type WalletReservationsDependencies,
} from '@tollgate/wallets';
import { type Books, lastReconciled, createReconciler, soleTeamOf } from '@tollgate/reconciliation';
import { registerAccountRoutes } from './routes/account-routes.ts';
import { registerCredentialRoutes } from './routes/credential-routes.ts';
import { registerMoneyRoutes } from './routes/money-routes.ts';
import { registerOperatorRoutes } from './routes/operator-routes.ts';
import { registerPaymentRoutes } from './routes/payment-routes.ts';
import { registerReviewRoutes } from './routes/review-routes.ts';
import { registerTeamRoutes } from './routes/team-routes.ts';
import { createBackground } from '@tollgate/service-kit';
import { type AccountsFile, createAccountChanges } from '@tollgate/merchant-accounts';
import { type CallbackConsumerDependencies, consumeCallbacks } from '@tollgate/callbacks';
import {
  type InquirySchedule,
  type InquiryScheduleDependencies,
  createInquirySchedule,
  type Place,
  runShards,
} from '@tollgate/inquiry-schedule';

export interface CommandServiceDependencies extends CoreDependencies {
  bus: MessageBus;
  /** Reads the hint of a provider's callback. */
  readCallback: CallbackConsumerDependencies['readCallback'];
  directory: TeamDirectory;
  /** Due inquiries, and balances. */
  index: InquiryScheduleDependencies['index'] & WalletReservationsDependencies['index'];
  inquiryDelays: InquiryDelays;
  /** Position of this process among those of the inquiry schedule; undefined while it takes no part. */
  place: () => Place | undefined;
  findByServiceToken: DisputesPollerDependencies['findByServiceToken'];
  /** Our side of reconciliations, from the index. */
  books: Books;
  /** Days after which a day is compared again. */
  reconciledAfterDays: readonly number[];
  /** Set if the accounts are those of a file. */
  accountsFile?: AccountsFile | undefined;
  /** Called before a person's command is carried out; the command waits until it has resolved. */
  recordCommand?: SecurityWatch['recordCommand'];
  /** Makes and checks the tokens and sessions of people. */
  operators: OperatorCredentials;
  /** Signs changes of teams; absent if this process does not make them. */
  teamKeys?: TeamKeys | undefined;
  /** Does work while no other process does the work of that name. */
  runAlone: (
    name: string,
    signal: AbortSignal,
    work: (signal: AbortSignal) => Promise<void>,
  ) => Promise<void>;
}

export type CommandService = ReturnType<typeof createCommandService>;

export function createCommandService(deps: CommandServiceDependencies) {
  const background = createBackground(deps);
  const parts = createParts(deps, background.signal);
  const { sender, inquiries, disputes } = parts;

  const reconciler = createReconciler({
    ...parts,
    inquireNamed: (...named) => inquireNamed(parts, ...named),
    soleTeamOf: (request) => soleTeamOf(deps.accounts.all(), deps.directory.names(), request),
  });

  const schedule = createSchedule(deps, parts);
  const changes = createAccountChanges({ ...deps, file: deps.accountsFile });

  const callbacks = callbacksOf(deps, parts, background);

  return {
    registerRoutes(app: FastifyInstance): void {
      registerPaymentRoutes(app, parts);
      registerMoneyRoutes(app, parts);
      registerReviewRoutes(app, parts);
      registerOperatorRoutes(app, parts);
      registerCredentialRoutes(app, { ...parts, operators: deps.operators });
      registerTeamRoutes(app, parts);
      registerAccountRoutes(app, {
        ...parts,
        index: deps.index,
        changes,
        file: deps.accountsFile,
        lastReconciled: (environment, account) => lastReconciled(deps, environment, account),
      });
    },
    /** Undefined while another process reconciles. */
    reconciliations: () => reconciler.health(),
    /** Names of accounts changed in a file that this process cannot use; undefined if it uses the current file. */
    accountsFileFault: () => changes.fileFault(),
    /**
     * Resolves when it knows the closed accounts, and has begun to apply callbacks, to run the inquiry schedule, to read the
     * disputes, and to reconcile.
     *
     * @throws StoreUnavailable
     */
    async start(): Promise<void> {
      await changes.catchUp();
      background.always((signal) => changes.follow(signal));
      background.always((signal) => consumeCallbacks(callbacks, signal));
      background.always((signal) => runShards({ ...deps, schedule }, signal));
      background.always((signal) => deps.runAlone('disputes', signal, (held) => disputes.run(held)));
      background.always((signal) => deps.runAlone('reconciliation', signal, (held) => reconciler.run(held)));
    },
    /** How the inquiry schedule keeps up. */
    scheduleHealth: () => schedule.health(),
    /** Ends that, and waits until every call and inquiry under way has been recorded. */
    async stop(): Promise<void> {
      await background.stop();
      await sender.idle();
      await inquiries.idle();
    },
  };
}

/** The core, and the modules around it that its routes use. */
function createParts(deps: CommandServiceDependencies, stopping: AbortSignal) {
  const core = createCore(deps, stopping);
  const reservations = createWalletReservations(core);
  // In this order: a payout waits for approval with its amount reserved.
  const guards = [createBalanceAndLimitGuard(reservations), createApprovalGuard(core)];
  return {
    ...core,
    reservations,
    unmatched: createUnmatchedOperations(core),
    balances: createBalances({ ...core, reservations }),
    guards,
    disputes: createDisputesPoller({ ...deps, payments: core.payments }),
  };
}

function callbacksOf(
  deps: CommandServiceDependencies,
  parts: ReturnType<typeof createParts>,
  background: ReturnType<typeof createBackground>,
): CallbackConsumerDependencies {
  const { sender, inquiries, disputes } = parts;
  return {
    ...deps,
    /** One that arrives before the call's answer is followed by another one after the answer. */
    async inquire(token, cause) {
      const result = await inquiries.request(token, cause);
      if (result === 'awaiting-answer')
        background.once(sender.settled(token).then(() => inquiries.request(token, cause)));
      return result;
    },
    inquireNamed: (...named) => inquireNamed(parts, ...named),
    nudgeDisputes: () => disputes.nudge(),
    async defer({ token, ...named }, cause) {
      const deferred = { type: 'DeferCallback', ...named, deferredAt: deps.clock.now() } as const;
      await subjectsOf(parts, token).execute(token, deferred, cause);
    },
  };
}

const createSchedule = (
  deps: CommandServiceDependencies,
  { inquiries, askAccount }: ReturnType<typeof createParts>,
): InquirySchedule =>
  createInquirySchedule({
    ...deps,
    delays: deps.inquiryDelays,
    quietPeriodMs: quietPeriodMs(deps.times),
    inquire: (token) => inquiries.request(token, causeOf(deps, inquiryScheduleName)),
    mayAsk: (account) => askAccount.mayAsk(account),
  });

/** The cause of our own inquiries. */
function causeOf({ ids }: Pick<CommandServiceDependencies, 'ids'>, name: string): Cause {
  const id = ids.uuid();
  return { correlationId: id, causationId: id, actor: { kind: 'service', name } };
}
