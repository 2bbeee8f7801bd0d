import type { EventStore } from '@tollgate/event-store';
import { beforeEach, describe, expect, it } from 'vitest';
import { createHarness, teaFor, type Harness, answered } from '../testing/harness.ts';
import { useHarness } from '../testing/use-harness.ts';

const started = useHarness();
let harness: Harness;
beforeEach(() => {
  harness = started();
});

/** Streams of payments, in the order of the reads. */
function countReads(store: EventStore, reads: string[]): EventStore {
  const read: EventStore['read'] = (stream, options) => {
    if (stream.startsWith('payment-')) reads.push(stream);
    return store.read(stream, options);
  };
  return { ...store, read };
}

async function created(instance: Pick<Harness, 'create'>, orderNumber: string): Promise<string> {
  return answered(await instance.create(teaFor(orderNumber))).token;
}

// A creation read its own stream three times: before it began, when announced, and when recorded.
describe('a process that has written a payment has it in memory', () => {
  it('a creation reads its payment once, and its replay only what may have changed', async () => {
    const reads: string[] = [];
    const counted = harness.startInstance({ wrapStore: (store) => countReads(store, reads) });
    const token = await created(counted, 'order-1');
    expect(reads).toEqual([`payment-${token}`]);
    expect(await counted.create(teaFor('order-1'))).toMatchObject({ kind: 'answered', replayed: true });
    expect(new Set(reads)).toEqual(new Set([`payment-${token}`]));
  });

  it('the cached payment equals a fresh read, to the last field', async () => {
    const { end, refund, authorized, approved, payments, startInstance } = harness;
    const captured = await authorized('order-1');
    await end('capture', captured);
    const voided = await authorized('order-2');
    await end('void', voided);
    const refunded = await approved('order-3');
    await refund(refunded, 'refund-1', 40);
    await refund(refunded, 'refund-2');
    const other = startInstance();
    for (const token of [captured, voided, refunded])
      expect(await payments.load(token)).toStrictEqual(await other.payments.load(token));
  });

  it('events of another process are read before a command is refused or skipped', async () => {
    const token = await harness.authorized('order-1');
    const other = harness.startInstance();
    expect(await other.end('capture', token)).toMatchObject({ kind: 'answered' });
    const refusal = await harness.end('void', token);
    expect(refusal.kind).toBe('refused');
    expect(await harness.startInstance().end('void', token)).toEqual(refusal);
  });

  it('a replay at another process needs no permit while the account is full', async () => {
    const crowded = await createHarness({ mainAccount: { concurrentCallsMax: 1 } });
    const token = await created(crowded, 'order-1');
    const other = crowded.startInstance();
    const { accounts } = other.inside;
    using held = await heldPermit(accounts);
    expect(held.account).toBe('main');
    const repeated = await other.create(teaFor('order-1'));
    expect(repeated).toMatchObject({ kind: 'answered', replayed: true, aggregate: { token } });
    await crowded.close();
  });
});

async function heldPermit(accounts: Harness['inside']['accounts']) {
  const result = await accounts.permitOf('sandbox', 'main');
  if (result.kind !== 'permit') throw new Error('there is no permit');
  return result.permit;
}
