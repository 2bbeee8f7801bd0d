/** Callbacks of the Payment Service: late, repeated, lost, out of order, and forged. */
import { recur } from './disasters.ts';
import type { Changed } from '../payment-service/ledger.ts';
import { callbackBase } from '../world/process.ts';
import type { Random } from '../world/random.ts';
import type { World } from '../world.ts';

const pausesMs = [5_000, 15_000, 30_000, 60_000, 300_000];
const patienceMs = 10_000;

export function createCallbackSender(world: World) {
  const { scheduler, faults } = world;
  const random = world.random.fork('callbacks');

  async function deliver(path: string, body: object, tries = 0): Promise<void> {
    const isTaken = (await post(world, random, path, body)) === 200;
    if (isTaken) world.saw('callback taken');
    const pauseMs = pausesMs[tries];
    if (!isTaken && pauseMs !== undefined)
      scheduler.after(pauseMs, 'callback again', () => void deliver(path, body, tries + 1));
  }

  const forger = random.fork('forger');
  recur(world, forger, 'callback-forged', () => forge(world, forger));
  return {
    notify: ({ callbackUrl, isRevision, ...changed }: Changed): void => {
      if (!callbackUrl.startsWith(callbackBase)) return;
      if (isRevision === true && faults.strikes('revision-untold', random)) return;
      if (faults.strikes('callback-lost', random)) return;
      const { token, type, status, orderNumber, amount, currency, recurringToken } = changed;
      const full = { token, type, status, orderNumber, amount, currency, recurringToken };
      const body = faults.isBare ? { status, orderNumber } : full;
      const count = faults.strikes('callback-repeated', random) ? random.whole(2, 4) : 1;
      for (let number = 0; number < count; number += 1) {
        const isLate = faults.strikes('callback-late', random);
        const delayMs = isLate ? random.between(10_000, 900_000) : random.between(1, 3_000);
        scheduler.after(delayMs, 'callback', () => void deliver(pathOf(callbackUrl), body));
      }
    },
  };
}

const pathOf = (url: string): string => url.slice(callbackBase.length);

/** Sends to any of the processes. @returns undefined if there is no answer */
async function post(world: World, random: Random, path: string, body: object): Promise<number | undefined> {
  const { partitions, scheduler } = world;
  const machine = random.pick(world.machines);
  const { process } = machine;
  const { promise, resolve } = Promise.withResolvers<number | undefined>();
  const fail = () => resolve(undefined);
  if (process === undefined || partitions.isCut('service', machine.name)) return undefined;
  const life = machine.life();
  life.onCrash(fail);
  scheduler.after(patienceMs, 'callback gives up', fail);
  const headers = { 'content-type': 'application/json' };
  life.deliver(0, 'callback', () => {
    const request = { method: 'POST' as const, url: path, headers, payload: JSON.stringify(body) };
    process.server.inject(request).then(({ statusCode }) => {
      if (statusCode === 200) requireStored(world, path, body);
      if (statusCode === 500) world.complain('500', `a callback to ${path} was answered 500`);
      resolve(partitions.isCut(machine.name, 'service') ? undefined : statusCode);
    }, fail);
  });
  return promise;
}

/** I12: a callback to an unknown address is rejected; at a payment's own address it is only a hint, whatever its content. */
function forge(world: World, random: Random): void {
  const { ledger, trace } = world;
  if (ledger.payments.length === 0) return;
  const [payment, other] = [random.pick(ledger.payments), random.pick(ledger.payments)];
  const own = pathOf(payment.callbackUrl);
  const type = random.pick(['payment', 'refund', 'payout']);
  const status = random.pick(['approved', 'declined', 'refunded']);
  const isAddressKnown = random.chance(0.5);
  const path = isAddressKnown ? own : `${own.slice(0, -4)}AAAA`;
  trace.log(`forged callback about ${payment.orderNumber}${isAddressKnown ? ' at its own address' : ''}`);
  const body = { token: other.token, type, status, orderNumber: payment.orderNumber };
  void post(world, random, path, body).then((statusCode) => {
    if (!isAddressKnown && statusCode === 200)
      world.complain('I12', 'a callback to an unknown address was answered 200');
    if (statusCode === 404) world.saw('forged callback refused');
  });
}

/** I6: a callback answered with 200 is durable. */
function requireStored({ log, complain }: World, path: string, body: object): void {
  const token = path.split('/')[3] ?? '';
  const { status, token: named } = body as { status: string; token?: string };
  const isStored = log.all().some(({ stream, data }) => {
    if (!stream.startsWith('bus-provider.callbacks.v1:')) return false;
    const { key, value } = data as { key: string; value: string };
    const isNamed = named === undefined || value.includes(`"${named}"`);
    return key === token && isNamed && value.includes(`"${status}"`);
  });
  if (!isStored) complain('I6', `a callback about ${token} was answered 200 and is not stored`);
}
