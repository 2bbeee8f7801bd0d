/** Customers' banks, which open disputes at the service and decide them, now and then once more. */
import type { DisputeStatus } from '../payment-service/ledger.ts';
import type { Random } from '../world/random.ts';
import type { World } from '../world.ts';

/** Opens one about a payment that took money, and decides it later. */
export function dispute({ ledger, scheduler, faults, pace, trace, saw }: World, random: Random): void {
  const disputable = ledger.payments.filter(({ status, isStranger }) => status === 'approved' && !isStranger);
  if (disputable.length === 0) return;
  const payment = random.pick(disputable);
  const opened = ledger.openDispute(payment, random.whole(1, payment.amount));
  trace.tell(`the bank of the customer of ${payment.orderNumber} opens dispute ${opened.id}`);
  saw('a dispute was opened');
  const decide = (status: DisputeStatus): void => {
    trace.tell(`the bank decides dispute ${opened.id}: ${status}`);
    ledger.changeDispute(opened, status);
  };
  const later = (happen: () => void): void =>
    void scheduler.after(pace * random.between(1_000, 240_000), 'the bank decides', () => {
      if (!faults.haveEnded()) happen();
    });
  later(() => {
    decide(random.pick(['approved', 'declined']));
    // It goes to the next instance, with the same end or with another one.
    if (random.chance(0.4))
      later(() => {
        decide('pending');
        later(() => decide(random.pick(['approved', 'declined'])));
      });
  });
}
