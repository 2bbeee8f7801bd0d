import { silentLog } from '@tollgate/service-kit';
import type { CallOutcome } from '@tollgate/payment-api';
import { describe, expect, it } from 'vitest';
import { createFakePaymentService } from '../testing/fake-payment-service.ts';
import { createAskAccount } from './ask-account.ts';

const known = { environment: 'sandbox', account: 'main' } as const;
const another = { environment: 'sandbox', account: 'second' } as const;
const accepted: CallOutcome<string> = { kind: 'accepted', answer: 'yes' };

function start() {
  const { client } = createFakePaymentService();
  const stopping = new AbortController();
  const accounts = { clientOf: (_: string, name: string) => (name === 'gone' ? undefined : client) };
  return { stopping, ask: createAskAccount({ accounts, stopping: stopping.signal, log: silentLog }) };
}

/** Questions that hang until they are released. */
function hanging() {
  const releases: (() => void)[] = [];
  const question = () =>
    new Promise<CallOutcome<string>>((resolve) => releases.push(() => resolve(accepted)));
  return { releases, question };
}

const turns = async () => {
  for (let turn = 0; turn < 10; turn += 1) await Promise.resolve();
};

describe('a question to an account', () => {
  it('waits where eight are under way, and goes on in order', async () => {
    const { ask } = start();
    const { releases, question } = hanging();
    const asking = Array.from({ length: 10 }, () => ask(known, question));
    await turns();
    expect(releases).toHaveLength(8);
    releases[0]?.();
    await turns();
    expect(releases).toHaveLength(9);
    for (let released = 1; released < 10; released += 1) {
      releases[released]?.();
      await turns();
    }
    expect(await Promise.all(asking)).toEqual(Array.from({ length: 10 }, () => accepted));
  });

  // All accounts shared their places: one that hung left none to the others.
  it('is not held up by another account that hangs', async () => {
    const { ask } = start();
    const { question } = hanging();
    for (let count = 0; count < 100; count += 1) void ask(known, question);
    expect(await ask(another, () => Promise.resolve(accepted))).toEqual(accepted);
    expect(await ask({ ...known, environment: 'production' }, () => Promise.resolve(accepted))).toEqual(
      accepted,
    );
  });

  it('is not asked where too many wait, or when the process stops', async () => {
    const { ask, stopping } = start();
    const { releases, question } = hanging();
    const asking = Array.from({ length: 2_009 }, () => ask(known, question));
    expect(await asking[2_008]).toEqual({ kind: 'not-asked' });
    stopping.abort();
    expect(await asking[8]).toEqual({ kind: 'not-asked' });
    expect(await ask(another, question)).toEqual({ kind: 'not-asked' });
    releases.forEach((release) => release());
    expect(await asking[7]).toEqual(accepted);
    expect(releases).toHaveLength(8);
  });

  it('of an account that is not configured says so', async () => {
    const { ask } = start();
    expect(await ask({ ...known, account: 'gone' }, () => Promise.resolve(accepted))).toEqual({
      kind: 'account-missing',
    });
  });

  it('in which the connector fails has no answer, and keeps no place', async () => {
    const { ask } = start();
    for (let count = 0; count < 20; count += 1)
      expect(await ask(known, () => Promise.reject(new Error('broken')))).toMatchObject({ kind: 'unknown' });
  });
});
