/**
 * Teams that migrate: an operator adopts earlier payments of their merchant accounts during normal traffic. The adoption is
 * interrupted and restarted. In the end each payment belongs to one team and has its status at the service.
 */
import { type AdoptedRow, adoptPayments } from '@tollgate/adoption';
import { createAskAccount } from '@tollgate/core';
import { createVault, isRetryable, omitUndefined, parseDataSecrets, silentLog } from '@tollgate/service-kit';
import { dayOf } from '../faults/recovery.ts';
import type { LedgerPayment } from '../payment-service/ledger.ts';
import { createSimulatedProvider } from '../payment-service/network.ts';
import type { World } from '../world.ts';
import { type Life, type Machine, createMachine } from '../world/machine.ts';
import { dataSecret } from '../world/process.ts';
import { createSimulatedStore } from '../world/simulated-store.ts';
import { type Caller, type CallerOf, insist, post } from './front-door.ts';
import { refunds } from './payments.ts';
import { type TeamName, accounts, teamNames, webhookUrlOf } from './teams.ts';
import { nameOfInstallation } from '@tollgate/event-store';

/**
 * Runs in a third of the seeds in which the service has lists and final payments are inquired in time: days before the first
 * reconciliation are not compared.
 *
 * @returns the payments that are not adopted correctly yet; undefined if this seed includes no migration
 */
export function beginMoving(world: World, callerOf: CallerOf): (() => string[]) | undefined {
  const random = world.random.fork('moving');
  if (world.faults.blind !== undefined || !random.chance(0.35)) return undefined;
  const former = Array.from({ length: random.whole(1, 5) }, (_, index) =>
    addFormer(callerOf(`former ${index}`), `former-${random.pick(teamNames)}-${index}`),
  );
  for (const team of teamNames)
    for (const account of accounts) {
      const what = `adoption ${team} ${account}`;
      world.begin(what, adopt(callerOf(what), team, account));
    }
  return () => former.flatMap((payment) => differenceOf(world, payment));
}

/** A payment as the previous installation left it. */
function addFormer({ ledger, scheduler, random }: Caller, orderNumber: string): LedgerPayment {
  const amount = random.whole(2, 40) * 50;
  const status = random.pick(['approved', 'approved', 'init', 'pending', 'declined'] as const);
  const payment = ledger.add({
    orderNumber,
    amount,
    currency: 'EUR',
    account: random.pick(accounts),
    callbackUrl: 'https://former.sim/',
    needConfirmation: status === 'pending',
    isHosted: true,
    isRecurring: random.chance(0.5),
    isFormer: true,
    ageMs: random.between(60_000, 36 * 3_600_000),
  });
  if (status !== 'init') ledger.pay(payment, status !== 'declined');
  if (status === 'approved' && random.chance(0.2))
    ledger.refundInConsole(payment, random.whole(1, amount - 1));
  if (status === 'init' && random.chance(0.7))
    scheduler.after(random.between(1_000, 120_000), 'the customer of an existing payment pays', () =>
      ledger.pay(payment, random.chance(0.8)),
    );
  return payment;
}

/** Repeats until one run has succeeded and read every payment. */
async function adopt(caller: Caller, team: TeamName, account: string): Promise<void> {
  const { random, sleep, trace, saw } = caller;
  const machine = createMachine('operator', caller.scheduler, random.fork('machine'));
  const taken = new Set<string>();
  // The operator forgets to say which payments belong to the team.
  const isSloppy = random.chance(0.2);
  const prefix = isSloppy ? '' : `former-${team}-`;
  await sleep(random.between(1_000, 200_000));
  for (let isDone = false; !isDone;) {
    trace.log(`an operator takes payments of ${account} under ${team}`);
    isDone = await adoptOnce(caller, machine, { team, account, prefix }, ({ outcome, token }) => {
      if ((outcome !== 'adopted' && outcome !== 'adopted_before') || token === undefined || taken.has(token))
        return;
      taken.add(token);
      saw('an existing payment was adopted');
      void use(caller, team, token);
    });
    if (!isDone) await sleep(random.between(1_000, 20_000));
  }
}

/** @returns true if every row was read; false after an interruption or a temporary failure */
async function adoptOnce(
  caller: Caller,
  machine: Machine,
  { team, account, prefix }: { team: TeamName; account: string; prefix: string },
  onAdopted: (row: AdoptedRow) => void,
): Promise<boolean> {
  const { scheduler, faults, random } = caller;
  const life = machine.boot();
  const { promise: killed, resolve } = Promise.withResolvers<false>();
  life.onCrash(() => resolve(false));
  if (!faults.haveEnded() && random.chance(0.4))
    scheduler.after(random.between(50, 3_000), 'the operator is interrupted', () => machine.crash());
  let isEveryRowRead = true;
  const order = {
    environment: 'sandbox' as const,
    account,
    team,
    wallet: caller.rules.walletOf(team),
    isDryRun: false,
    callbackUrl: webhookUrlOf(team),
    // Half of the runs set this limit, possibly after a run that did not.
    ...omitUndefined({ payableFrom: random.chance(0.5) ? dayOf(caller, -1) : undefined }),
    from: dayOf(caller, -2),
    to: dayOf(caller),
    matches: ({ observed }: { observed: { orderNumber?: string | undefined } }) =>
      (observed.orderNumber ?? '').startsWith(prefix),
  };
  const { signal } = new AbortController();
  const run = async (): Promise<boolean> => {
    await adoptPayments(await adoptionDeps(caller, life, account), order, {
      signal,
      onRow: (row) => {
        if (row.outcome === 'payment_not_readable') isEveryRowRead = false;
        onAdopted(row);
      },
      onDay: () => undefined,
    });
    return isEveryRowRead;
  };
  return Promise.race([
    killed,
    run().catch((error: unknown): false => {
      if (isRetryable(error)) return false;
      throw error;
    }),
  ]);
}

const limits = { concurrentMax: () => 2, perSecondMax: () => 10, total: () => undefined };

async function adoptionDeps(world: World, life: Life, account: string) {
  const { clock, ids } = life;
  const store = createSimulatedStore(world, life);
  const provider = createSimulatedProvider(world, life, account);
  return {
    store,
    clock,
    ids,
    installation: await nameOfInstallation({ store, clock, ids }),
    vault: createVault(parseDataSecrets(dataSecret), ids),
    askAccount: createAskAccount({
      accounts: { inquiriesOf: () => ({ provider, limits }) },
      stopping: new AbortController().signal,
      clock,
      log: silentLog,
    }),
    actor: { kind: 'person', name: 'ada', source: 'command-line' } as const,
    findByServiceToken: () => Promise.resolve(undefined),
  };
}

/** The team refunds the payment, or captures or voids an authorized one. */
async function use(caller: Caller, team: TeamName, token: string): Promise<void> {
  const { random, books } = caller;
  await caller.sleep(random.between(1_000, 60_000));
  if (books.find(token)?.phase === 'authorized')
    await insist(caller, post(team, `payments/${random.pick(['confirm', 'decline'])}`, { token }));
  await refunds(caller, team, { token, amount: books.find(token)?.amount ?? 100 });
}

function differenceOf({ books, ledger }: World, { token, orderNumber }: LedgerPayment): string[] {
  const own = books.byOrderNumber(orderNumber);
  if (own === undefined) return [`${orderNumber} was adopted without an owner`];
  const isOpen = ledger.payments.some((each) => each.token === token && each.status === 'init');
  return isOpen || own.serviceToken === token
    ? []
    : [`${orderNumber} was taken for ${own.serviceToken ?? ''}`];
}
