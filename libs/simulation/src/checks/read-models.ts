/** I8: what was built step by step, through crashes, is what the events say. */
import type { EventStore } from '@tollgate/event-store';
import { compareReadModels as compare } from '@tollgate/projector';
import { createMachine } from '../world/machine.ts';
import type { GatewayProcess } from '../world/process.ts';
import { createSimulatedStore } from '../world/simulated-store.ts';
import { teamNames } from '../people/teams.ts';
import type { World } from '../world.ts';

const patienceMs = 600_000;

export async function compareReadModels(world: World): Promise<void> {
  const { scheduler, random, complain } = world;
  // A reader of its own, to whom nothing happens.
  const life = createMachine('check', scheduler, random.fork('check')).life();
  const store = createSimulatedStore(world, life);
  await compareWith(world, store, undefined);
  for (const { machine, process } of world.machines)
    if (process !== undefined) await compareWith(world, store, { name: machine.name, ...process });
  for (const { machine, process } of world.machines) {
    if (process === undefined) complain('I9', `${machine.name} does not serve`);
    for (const operation of world.books.all()) {
      const shown =
        operation.kind === 'payment'
          ? process?.index.find(operation.token)?.payment
          : process?.index.findPayout(operation.token)?.payout;
      if (process !== undefined && shown?.phase !== operation.phase)
        complain(
          'I8',
          `the index of ${machine.name} shows ${operation.token} as ${shown?.phase ?? 'nothing'}, and it is ${operation.phase}`,
        );
      if (operation.kind === 'payout' && shown !== undefined && shown.terms.amount !== operation.amount)
        complain(
          'I8',
          `${operation.token} is of ${shown.terms.amount} in the index of ${machine.name}, and a person said ${operation.amount}`,
        );
    }
    if (process !== undefined)
      for (const team of teamNames) requireDisputes(world, process, { team, name: machine.name });
  }
}

/** Views once, and then the index of each process, with the fold of their events from zero. */
async function compareWith(
  { scheduler, complain }: World,
  store: EventStore,
  process: (GatewayProcess & { name: string }) | undefined,
): Promise<void> {
  let hasEnded = false;
  const signal = new AbortController().signal;
  compare({ store, signal, ...(process && { index: process.index }) }).then(
    ({ differing, differingInIndex, failed }) => {
      hasEnded = true;
      if (differing.length > 0)
        complain('I8', `views differ from the fold of their events: ${differing.join(', ')}`);
      if (differingInIndex.length > 0)
        complain(
          'I8',
          `the index of ${process?.name} differs from the events: ${differingInIndex.join(', ')}`,
        );
      if (failed.length > 0) complain('I8', `views were set aside: ${failed.join(', ')}`);
    },
    (error: unknown) => {
      hasEnded = true;
      complain('I8', `the views cannot be compared: ${String(error)}`);
    },
  );
  await scheduler.runUntil(scheduler.now() + patienceMs, () => hasEnded);
  if (!hasEnded) complain('I8', 'the views cannot be compared in time');
}

const disputesShown = 100;

/** A team sees its disputes, as they are, and nobody else's. */
function requireDisputes(
  { checks, complain }: World,
  { index }: GatewayProcess,
  { team, name }: { team: string; name: string },
): void {
  const toLine = ({ token, status, paymentToken }: Shown): string =>
    `${token} ${status} ${paymentToken ?? ''}`;
  const list = index.listDisputes({ environment: 'sandbox', team, perPage: disputesShown });
  const shown = (list.kind === 'page' ? list.views : []).map(({ token, dispute: { status, paymentToken } }) =>
    toLine({ token, status, paymentToken }),
  );
  const recorded = checks.disputes.ofTeam(team).map(toLine);
  if (shown.toSorted().join() !== recorded.toSorted().join())
    complain(
      'I8',
      `the index of ${name} shows disputes of ${team} ${shown.join(', ')}, and there are ${recorded.join(', ')}`,
    );
}

interface Shown {
  token: string;
  status: string;
  paymentToken: string | undefined;
}
