/**
 * Teams that move: an operator takes under them what their merchant accounts made before, while everything goes on. He is interrupted, and
 * begins again; in the end each payment belongs to one of them, and is what it is at the service.
 */
import { type AdoptedRow, adoptPayments } from '@tollgate/adoption';
import { createAskAccount, nameOfInstallation } from '@tollgate/core';
import { providers } from '@tollgate/provider';
import {
  createLocalKeyService,
  createVault,
  isRetryable,
  parseDataSecrets,
  silentLog,
} from '@tollgate/service-kit';
import type { OperationOnRecord } from '../checks/books.ts';
import { type CallerWorld, insist, post } from './caller.ts';
import { type Life, type Machine, createMachine } from '../world/machine.ts';
import { wayToService } from '../world/boot.ts';
import { dayOf } from '../faults/outage.ts';
import { createServiceApi } from '../payment-service/api.ts';
import type { LedgerPayment } from '../payment-service/ledger.ts';
import { createConnections } from '../payment-service/network.ts';
import { dataSecret } from '../world/process.ts';
import type { Random } from '../world/random.ts';
import { refunds } from './refunds.ts';
import { createSimulatedStore } from '../world/simulated-store.ts';
import { type TeamName, accounts, teamNames, webhookUrlOf } from './teams.ts';
import type { World } from '../world.ts';

export interface Moving {
  /** Somebody moves under this seed. */
  isUnderWay: boolean;
  /** What has not been taken yet. */
  differences(): string[];
}

const nobodyMoves: Moving = { isUnderWay: false, differences: () => [] };

/**
 * Under a third of the seeds in which the service has lists, and what is final is inquired in time: nobody compares days before the first
 * reconciliation.
 */
export function beginMoving(world: World, callerOf: (random: Random) => CallerWorld): Moving {
  const random = world.random.fork('moving');
  if (world.faults.blind !== undefined || !random.chance(0.35)) return nobodyMoves;
  const former = Array.from({ length: random.whole(1, 5) }, (_, index) =>
    addFormer(world, random, `former-${random.pick(teamNames)}-${index}`),
  );
  let left = 0;
  for (const team of teamNames)
    for (const account of accounts) {
      left += 1;
      const own = random.fork(`${team} ${account}`);
      void adopt(world, callerOf(own), { team, account, isSloppy: own.chance(0.2) }).then(
        () => (left -= 1),
        (error: unknown) => world.complain('simulation', `an adoption failed: ${String(error)}`),
      );
    }
  return {
    isUnderWay: true,
    differences: () => [
      ...(left === 0 ? [] : ['an operator has not taken everything yet']),
      ...former.flatMap((payment) => differenceOf(world, payment)),
    ],
  };
}

/** As somebody else has left it. */
function addFormer({ ledger, scheduler }: World, random: Random, orderNumber: string): LedgerPayment {
  const amount = random.whole(2, 40) * 50;
  const status = random.pick(['approved', 'approved', 'init', 'pending', 'declined'] as const);
  const isPaid = status === 'approved' || status === 'pending';
  const refundedAmount = status === 'approved' && random.chance(0.2) ? random.whole(1, amount - 1) : 0;
  const payment = ledger.addFormer(
    {
      orderNumber,
      amount,
      currency: 'EUR',
      account: random.pick(accounts),
      callbackUrl: 'https://former.sim/',
      needConfirmation: status === 'pending',
      isHosted: true,
      isRecurring: random.chance(0.5),
    },
    {
      status,
      hasTakenMoney: isPaid,
      heldAmount: status === 'pending' ? amount : 0,
      refundedAmount,
      refundedInConsole: refundedAmount,
      isCounted: refundedAmount > 0,
      ageMs: random.between(60_000, 36 * 3_600_000),
    },
  );
  if (status === 'init' && random.chance(0.7))
    scheduler.after(random.between(1_000, 120_000), 'the customer of before pays', () =>
      ledger.pay(payment, random.chance(0.8)),
    );
  return payment;
}

interface Order {
  team: TeamName;
  account: string;
  /** He forgets to say which payments are those of the team. */
  isSloppy: boolean;
}

/** Until it has ended well once, with every payment read. */
async function adopt(world: World, caller: CallerWorld, order: Order): Promise<void> {
  const { random, sleep, tell, saw } = caller;
  const machine = createMachine('operator', world.scheduler, random.fork('machine'));
  const taken = new Set<string>();
  await sleep(random.between(1_000, 200_000));
  for (let isDone = false; !isDone;) {
    tell(`an operator takes payments of ${order.account} under ${order.team}`);
    isDone = await adoptOnce(world, machine, random, order, ({ outcome, token }) => {
      if ((outcome !== 'adopted' && outcome !== 'adopted_before') || token === undefined || taken.has(token))
        return;
      taken.add(token);
      saw('a payment of before was taken');
      void use(world, caller, order.team, token);
    });
    if (!isDone) await sleep(random.between(1_000, 20_000));
  }
}

async function adoptOnce(
  world: World,
  machine: Machine,
  random: Random,
  { team, account, isSloppy }: Order,
  onRow: (row: AdoptedRow) => void,
): Promise<boolean> {
  const { scheduler, faults } = world;
  const life = machine.boot();
  const { clock, ids } = life;
  const killed = new Promise<false>((resolve) => life.onCrash(() => resolve(false)));
  if (!faults.haveEnded() && random.chance(0.4))
    scheduler.after(random.between(50, 3_000), 'the operator is interrupted', () => machine.crash());
  const store = storeOf(world, life);
  const signal = new AbortController().signal;
  let isEveryRowRead = true;
  const run = async () => {
    const installation = await nameOfInstallation({ store, clock, ids });
    const vault = createVault(createLocalKeyService(parseDataSecrets(dataSecret), ids), ids);
    const askAccount = createAskAccount({
      accounts: { inquiriesOf: () => ({ provider: providerOf(world, life, account), limits }) },
      stopping: signal,
      clock,
      log: silentLog,
    });
    await adoptPayments(
      {
        installation,
        store,
        vault,
        askAccount,
        clock,
        ids,
        actor: { kind: 'person', name: 'ada', source: 'command-line' },
        findByServiceToken: () => Promise.resolve(undefined),
      },
      {
        environment: 'sandbox',
        account,
        team,
        wallet: `team-${team}`,
        isDryRun: false,
        callbackUrl: webhookUrlOf(team),
        from: dayOf(world, -2),
        to: dayOf(world),
        matches: ({ observed }) => isSloppy || observed.orderNumber?.startsWith(`former-${team}-`) === true,
      },
      {
        signal,
        onRow: (row) => {
          if (row.outcome === 'payment_not_readable') isEveryRowRead = false;
          onRow(row);
        },
        onDay: () => undefined,
      },
    );
    return isEveryRowRead;
  };
  return Promise.race([killed, run().catch(unlessPassing)]);
}

/** What tells him to begin again. */
function unlessPassing(error: unknown): false {
  if (isRetryable(error)) return false;
  throw error;
}

const limits = { concurrentMax: () => 2, perSecondMax: () => 10, total: () => undefined };

const storeOf = ({ log, faults, scheduler, weather }: World, life: Life) =>
  createSimulatedStore({
    log,
    life,
    faults,
    scheduler,
    weather: { isDown: () => scheduler.now() < weather.storeDownUntil, areAnswersLost: () => false },
  });

function providerOf(world: World, life: Life, account: string) {
  const { faults, ledger } = world;
  return providers['payment-service']({
    baseUrl: 'https://service.sim',
    privateKey: { reveal: () => 'key' },
    deadlineMs: 10_000,
    clock: life.clock,
    connections: createConnections({
      ...wayToService(world, life, 'operator', account),
      answerOf: createServiceApi(ledger, life.random.fork('service'), faults),
      pause: () => undefined,
      onDisputesListed: () => undefined,
    }),
  });
}

/** Its team refunds it, or takes or gives back what is held. */
async function use({ books }: World, caller: CallerWorld, team: TeamName, token: string): Promise<void> {
  const { random, sleep } = caller;
  await sleep(random.between(1_000, 60_000));
  if (books.find(token)?.phase === 'authorized') {
    const operation = random.pick(['confirm', 'decline']);
    await insist(caller, post(team, `payments/${operation}`, { token }), { token: undefined });
  }
  await refunds(caller, team, token, books.find(token)?.amount ?? 100, token);
}

function differenceOf({ books, ledger }: World, { token, orderNumber }: LedgerPayment): string[] {
  const own: OperationOnRecord | undefined = books.byOrderNumber(orderNumber);
  if (own === undefined) return [`${orderNumber} was taken under nobody`];
  const isOpen = ledger.payments.some((each) => each.token === token && each.status === 'init');
  return isOpen || own.serviceToken === token
    ? []
    : [`${orderNumber} was taken for ${own.serviceToken ?? ''}`];
}
