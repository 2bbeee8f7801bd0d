/** What must hold of what the gateway shows and the service's ledger. Each gives what is wrong. */
import type { Ledger, Shown } from '../ledger.ts';

export type Kind = 'payment' | 'payout';
export type Operation = Shown & { kind: Kind };

const underWay = ['requested', 'unresolved', 'capturing', 'voiding'];

/** I9: neither open nor different, unless a person is asked. */
export function differences(operations: readonly Operation[], { payments, payouts }: Ledger): string[] {
  return operations.flatMap(({ token, kind, phase, status, refundedAmount, refunds = [], reviews = [] }) => {
    if (reviews.length > 0) return [];
    const of = ({ orderNumber }: { orderNumber: string }) => orderNumber.startsWith(`${token}.`);
    if (underWay.includes(phase)) return [`${token} is ${phase}`];
    if (kind === 'payout') {
      const there = payouts.find(of)?.status ?? 'declined';
      return there === status ? [] : [`${token} is ${status}, and ${there} at the service`];
    }
    const open = refunds.find((each) => each.phase !== 'approved' && each.phase !== 'declined');
    if (open !== undefined) return [`the refund ${open.token} of ${token} is ${open.phase}`];
    const there = payments.find(of);
    const expected = there === undefined ? 'declined 0' : `${there.status} ${there.refundedAmount}`;
    const shown = `${status} ${refundedAmount}`;
    return shown === expected ? [] : [`${token} is ${shown}, and ${expected} at the service`];
  });
}

/** I1: one payment and one payout at the service for each of ours. */
export function twice({ payments, payouts }: Ledger): string[] {
  const moved = payments.filter(({ status }) => status === 'approved' || status === 'refunded');
  const owners = [...moved, ...payouts].map(({ orderNumber }) => orderNumber.replace(/\.\d+$/, ''));
  return [...new Set(owners.filter((owner, index) => owners.indexOf(owner) !== index))];
}

export const overRefunded = ({ payments, refunds }: Ledger): string[] =>
  payments
    .filter(({ token, amount }) => {
      const sum = refunds
        .filter(({ paymentToken, status }) => paymentToken === token && status === 'approved')
        .reduce((total, refund) => total + refund.amount, 0);
      return sum > amount;
    })
    .map(({ orderNumber }) => orderNumber);

/**
 * As the launcher tells of what nobody has killed: it names a signal otherwise. A start that fails while the store is away ends
 * with a sentence, and is tried again: only what had served counts.
 */
export function endsOfServices(output: string): string[] {
  const serving = new Set<string>();
  const ends: string[] = [];
  for (const line of output.split('\n')) {
    const [, started] = /^\[(.+?)\] .+: ready at /.exec(line) ?? [];
    if (started !== undefined) serving.add(started);
    const [, label, how = ''] = /^(\S+) has ended \((.+)\); it is started again/.exec(line) ?? [];
    if (label === undefined) continue;
    if (serving.has(label) && how.startsWith('exit code')) ends.push(`${label}: ${how}`);
    serving.delete(label);
  }
  return ends;
}
