/** The inside of the command service over a real store and a provider in memory, with controlled time. */
import { mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { EventStore } from '@tollgate/event-store';
import { openStoreInThread } from '@tollgate/event-store/testing';
import { decodePaymentEvent, paymentStream } from '../domain/payment/payment-events.ts';
import { decodePayoutEvent, payoutStream } from '../domain/payout/payout-events.ts';
import type { Requester } from '../domain/requester.ts';
import {
  type Clock,
  type DataSecrets,
  type Ids,
  type Vault,
  breakerFailuresMax,
  createVault,
  parseDataSecrets,
  silentLog,
  systemClock,
} from '@tollgate/service-kit';
import { createFakeClock, createFakeIds } from '@tollgate/testing';
import type { Account, Accounts } from '../accounts.ts';
import type { Cause } from '../aggregates/repository.ts';
import { type Core, type CoreDependencies, createCore } from '../core.ts';
import { type CreatePaymentInput, createPayment } from '../operations/create-payment.ts';
import { type CreatePayoutInput, createPayout } from '../operations/create-payout.ts';
import { captureOrVoid } from '../operations/capture-or-void.ts';
import { refundPayment } from '../operations/refund-payment.ts';
import { type ResolveReviewInput, resolveReview } from '../operations/resolve-review.ts';
import { operatorResolutions } from '../operations/who-may-resolve.ts';
import type { Guard } from '../operations/guard.ts';
import type { OperationResult } from '../operations/operation.ts';
import { createFingerprints } from '../tokens.ts';
import { createFakeProvider } from './fake-provider.ts';
import { createAccounts } from '@tollgate/accounts';
import type { CallTimes } from '../domain/outbound-call/outbound-call.ts';

export const times: CallTimes = { sendWithinMs: 1_000, callDeadlineMs: 2_000, quietMs: 3_000 };
/** From the announcement until no caller waits for the answer, and until "not found" proves something. */
export const answerMs = times.sendWithinMs + times.callDeadlineMs;
export const quietMs = answerMs + times.quietMs;

/** For processes on the system's clock: long enough that no machine sends too late. */
export const patientTimes: CallTimes = { sendWithinMs: 60_000, callDeadlineMs: 60_000, quietMs: 60_000 };

export const cause: Cause = {
  correlationId: 'c',
  causationId: 'c',
  actor: { kind: 'service', name: 'spec' },
};

/** Defaults of every process. */
const dataSecrets = parseDataSecrets(`k1:${'s'.repeat(32)}`);

const vaultOf = (secrets: DataSecrets, ids: Ids): Vault => createVault(secrets, ids);

const installation = 'installation-1';
/** The team whose tokens the requests of {@link caller} get. */
export const scopeOf = (by: Pick<Requester, 'environment' | 'team'>) => ({ ...by, installation });

export const caller: Omit<Requester, 'operator'> = {
  team: 'demo',
  keyId: 'k',
  environment: 'sandbox',
  allowedOrigins: { callback: [], redirect: undefined },
  // Most specs pay out without a payment before; those of the ledger choose the wallet.
  wallet: { kind: 'provider' },
};

const operatorCaller: Requester = { ...caller, operator: { person: 'Ada' } };

export const keyOf = (value: string) => ({ source: 'Idempotency-Key' as const, value });

export const teaFor = (
  orderNumber: string,
  amount = 1250,
  more: Partial<CreatePaymentInput['request']> = {},
): CreatePaymentInput => ({
  caller,
  key: { source: 'orderNumber', value: orderNumber },
  request: { product: 'Tea', amount, currency: 'EUR', orderNumber, ...more },
  cause,
});

export const card = { pan: '4392963203551251', expires: '12/2039', holder: 'Ada Lovelace', cvv: '737' };

export const payoutFor = (
  orderNumber: string,
  destination: CreatePayoutInput['request']['destination'] = {
    bankAccount: { bankName: 'A bank', account: 'DE02120300000000202051' },
  },
): CreatePayoutInput => ({
  caller,
  key: { source: 'orderNumber', value: orderNumber },
  request: { amount: 500, currency: 'EUR', orderNumber, destination },
  cause,
});

export const accountNamed = (
  name: string,
  provider: Account['provider'],
  more: Partial<Account> = {},
): Account => ({
  environment: 'sandbox',
  name,
  provider,
  weight: 1,
  priority: 0,
  concurrentCallsMax: 1_000,
  callsPerSecondMax: 1_000_000,
  ...more,
});

/** The subject of a request that was answered. */
export function answered<Subject extends object>(
  result: OperationResult<Subject, { code: string }>,
): Subject {
  if (result.kind === 'answered') return result.aggregate;
  throw new Error(`not answered: ${JSON.stringify(result)}`);
}

export type Harness = Awaited<ReturnType<typeof createHarness>>;
export type Instance = ReturnType<Harness['startInstance']>;

type Resolving = Omit<ResolveReviewInput, 'caller' | 'cause' | 'reason' | 'number'> & { number?: number };

export interface HarnessOptions {
  /** Accounts in addition to the first one, `main`. */
  moreAccounts?: readonly Account[];
  /** Settings of `main`. */
  mainAccount?: Partial<Account>;
  /** Guards of each process; none by default. */
  guardsOf?: (core: Core) => readonly Guard[];
}

export interface InstanceOptions {
  clock?: Clock;
  stopping?: AbortSignal;
  /** A failing store for this process alone. */
  wrapStore?: (store: EventStore) => EventStore;
  /** All its accounts, if the configuration has changed. */
  accounts?: readonly Account[];
  dataSecrets?: DataSecrets;
  /** True for one that ends in the middle of its work: its permits are not checked. */
  dies?: boolean;
}

/** Turns of the event loop without store work after which every process counts as idle. */
const idleTurnsMin = 5;

/** Tracks the work of the store. */
function countWork(store: EventStore, working: { count: number }): EventStore {
  return {
    ...store,
    async append(stream, events, expected, options) {
      working.count += 1;
      return store.append(stream, events, expected, options).finally(() => (working.count -= 1));
    },
    async *subscribe(options) {
      let isCatchingUp = true;
      const caughtUp = () => {
        if (isCatchingUp) working.count -= 1;
        isCatchingUp = false;
      };
      working.count += 1;
      try {
        for await (const item of store.subscribe(options)) {
          if (item.kind === 'caught-up') caughtUp();
          yield item;
        }
      } finally {
        caughtUp();
      }
    },
    async *read(stream, options) {
      working.count += 1;
      try {
        yield* store.read(stream, options);
      } finally {
        working.count -= 1;
      }
    },
  };
}

export async function createHarness({
  moreAccounts = [],
  mainAccount = {},
  guardsOf = () => [],
}: HarnessOptions = {}) {
  const directory = mkdtempSync(join(tmpdir(), 'tollgate-command-'));
  const realStore = await openStoreInThread({ file: join(directory, 'events.db') });
  const working = { count: 0 };
  const store = countWork(realStore, working);
  const fakeClock = createFakeClock();
  const ids = createFakeIds(1);
  const provider = createFakeProvider(fakeClock);
  const surviving: { accounts: Accounts; idle: () => Promise<void> }[] = [];

  /** One process of the command service; several share the store. */
  function startInstance({
    clock = fakeClock,
    stopping = new AbortController().signal,
    wrapStore: wrapOwn = (each) => each,
    accounts: configured = [accountNamed('main', provider.provider, mainAccount), ...moreAccounts],
    dies = false,
    dataSecrets: secrets = dataSecrets,
  }: InstanceOptions = {}) {
    const accounts = createAccounts({ accounts: configured, clock, log: silentLog });
    const core = createCore<CoreDependencies>(
      {
        installation,
        store: wrapOwn(store),
        clock,
        ids,
        log: silentLog,
        accounts,
        times: clock === systemClock ? patientTimes : times,
        callbackUrlOf: (environment, token) => `https://gateway.example/callbacks/${environment}/${token}/x`,
        fingerprintsOf: createFingerprints(secrets),
        vault: vaultOf(secrets, ids),
        reviewsByTwo: [],
      },
      stopping,
    );
    const { payments, payouts, sender, inquiries } = core;
    const idle = async () => {
      await sender.idle();
      await inquiries.idle();
    };
    if (!dies) surviving.push({ accounts, idle });
    const inside = {
      ...core,
      guards: guardsOf(core),
      inquire: (token: string, why: Cause = cause) => inquiries.request(token, why),
    };
    return {
      ...inside,
      inside,
      create: (input: CreatePaymentInput) => createPayment(inside, input),
      end: (operation: 'capture' | 'void', token: string, by: Requester = caller) =>
        captureOrVoid(inside, { caller: by, operation, token, cause }),
      refund: (token: string, key: string, amount?: number, by: Requester = caller) =>
        refundPayment(inside, {
          caller: by,
          key: keyOf(key),
          cause,
          request: { token, ...(amount === undefined ? {} : { amount }) },
        }),
      payOut: (input: CreatePayoutInput) => createPayout(inside, input),
      /** Lets calls through an account fail until its circuit opens. */
      async openCircuit(name = 'main') {
        for (let failures = 0; failures < breakerFailuresMax; failures += 1) {
          const result = await accounts.permitOf('sandbox', name);
          if (result.kind === 'permit') result.permit.release('unknown');
        }
      },
      /** Default number: the first open one. An operator answers what a key may not. */
      async resolve({ number, ...input }: Resolving) {
        const { token, code } = input;
        const known = token.startsWith('po_')
          ? (await payouts.load(token))?.payout
          : (await payments.load(token))?.payment;
        const open = known?.reviews.find((each) => each.code === code)?.number;
        const by = operatorResolutions.includes(input.resolution) ? operatorCaller : caller;
        const rest = { caller: by, cause, reason: 'seen at the service', number: number ?? open ?? 1 };
        return resolveReview(inside, { ...rest, ...input });
      },
    };
  }

  const first = startInstance();

  return {
    ...first,
    clock: fakeClock,
    provider,
    startInstance,
    /** Calls that living processes believe to be under way. */
    permitsOut: (): number =>
      surviving
        .flatMap(({ accounts }) => accounts.health())
        .reduce((sum, each) => sum + each.callsUnderWay, 0),
    /** Resolves when nothing is under way in the living processes. */
    async idle(): Promise<void> {
      for (const instance of surviving) await instance.idle();
    },
    /** Everything on the disk, as text. */
    onDisk: (): string =>
      readdirSync(directory)
        .map((file) => readFileSync(join(directory, file), 'latin1'))
        .join(''),
    async history(token: string): Promise<string[]> {
      const isPayout = token.startsWith('po_');
      const types: string[] = [];
      for await (const event of realStore.read(isPayout ? payoutStream(token) : paymentStream(token)))
        types.push((isPayout ? decodePayoutEvent(event) : decodePaymentEvent(event)).type);
      return types;
    },
    /** A payment approved by the provider, created by a team's key with the order number `orderNumber`. */
    async approved(orderNumber: string, amount = 100, by: Requester = caller): Promise<string> {
      const created = await first.create({ ...teaFor(orderNumber, amount), caller: by });
      const { token, payment } = answered(created);
      provider.change(payment.attempt.providerOrderNumber, { status: 'approved' });
      await first.inquire(token);
      return token;
    },
    /** A page whose answer is lost as its process stops, so that no further attempt follows. */
    async lostPage(orderNumber: string, kind: 'lost-before' | 'lost-after' = 'lost-before'): Promise<string> {
      provider.faults.push({ kind });
      const { create } = startInstance({ stopping: AbortSignal.abort() });
      return answered(await create(teaFor(orderNumber))).token;
    },
    /** A payment whose amount is authorized, to be captured or voided. */
    async authorized(orderNumber: string, amount = 100): Promise<string> {
      const created = await first.create(teaFor(orderNumber, amount, { needConfirmation: true }));
      const { token, payment } = answered(created);
      const { providerOrderNumber } = payment.attempt;
      provider.change(providerOrderNumber, { status: 'pending', authorizedAmount: amount });
      await first.inquire(token);
      return token;
    },
    /** Advances time only while every process is idle, so that work waiting for the disk does not find hours gone. */
    async passTime<Value>(work: Promise<Value>): Promise<Value> {
      const state = { hasEnded: false };
      void work.finally(() => (state.hasEnded = true)).catch(() => undefined);
      for (let idleTurns = 0; !state.hasEnded; idleTurns += 1) {
        await new Promise((resolve) => setImmediate(resolve));
        if (working.count > 0) idleTurns = 0;
        if (idleTurns < idleTurnsMin || fakeClock.sleeperCount() === 0) continue;
        await fakeClock.advance(50);
        idleTurns = 0;
      }
      return work;
    },
    async close(): Promise<void> {
      await realStore.close();
      rmSync(directory, { recursive: true, force: true });
    },
  };
}
