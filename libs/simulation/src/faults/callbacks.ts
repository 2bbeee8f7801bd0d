/** Callbacks of the Payment Service: late, repeated, lost, out of order, and forged. */
import { recur } from './disasters.ts';
import type { Changed } from '../payment-service/ledger.ts';
import { type Caller, createFrontDoor } from '../people/front-door.ts';
import { callbackBase } from '../world/process.ts';
import type { World } from '../world.ts';

const pausesMs = [5_000, 15_000, 30_000, 60_000, 300_000];

export function createCallbackSender(world: World) {
  const { scheduler, faults } = world;
  const callerOf = createFrontDoor(world, () => true);
  const service = callerOf('callbacks');
  const { random } = service;

  async function deliver(url: string, body: object, tries = 0): Promise<void> {
    const { statusCode } = await service.request({ team: 'service', method: 'POST', url, body });
    const isTaken = statusCode === 200;
    if (isTaken) world.saw('callback taken');
    const pauseMs = pausesMs[tries];
    if (!isTaken && pauseMs !== undefined)
      scheduler.after(pauseMs, 'callback again', () => void deliver(url, body, tries + 1));
  }

  const forger = callerOf('forger');
  recur(world, forger.random, 'callback-forged', () => forge(forger));
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

/** I12: a callback to an unknown address is rejected; at a payment's own address it is only a hint, whatever its content. */
function forge({ ledger, trace, random, request, complain, saw }: Caller): void {
  if (ledger.payments.length === 0) return;
  const [payment, other] = [random.pick(ledger.payments), random.pick(ledger.payments)];
  const own = pathOf(payment.callbackUrl);
  const type = random.pick(['payment', 'refund', 'payout']);
  const status = random.pick(['approved', 'declined', 'refunded']);
  const isAddressKnown = random.chance(0.5);
  const url = isAddressKnown ? own : `${own.slice(0, -4)}AAAA`;
  trace.log(`forged callback about ${payment.orderNumber}${isAddressKnown ? ' at its own address' : ''}`);
  const body = { token: other.token, type, status, orderNumber: payment.orderNumber };
  void request({ team: 'service', method: 'POST', url, body }).then(({ statusCode }) => {
    if (!isAddressKnown && statusCode === 200)
      complain('I12', 'a callback to an unknown address was answered 200');
    if (statusCode === 404) saw('forged callback refused');
  });
}
