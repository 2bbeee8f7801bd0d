/** The poller of disputes over lists in memory. */
import type { EventStore } from '@tollgate/event-store';
import type { FoundDispute, InquiryOutcome, Provider, RecordDispute } from '@tollgate/core';
import type { Log, LogFields } from '@tollgate/service-kit';
import { createFakeClock, createFakeIds, eventually } from '@tollgate/testing';
import { expect, onTestFinished } from 'vitest';
import { createDisputesPoller } from '../disputes-poller.ts';

/** The list of one account at the provider. */
export interface FakeAccount {
  environment: 'sandbox' | 'production';
  name: string;
  provider: Provider;
  disputes: FoundDispute[];
  /** Replaces the list. */
  fault: InquiryOutcome<never> | undefined;
  readCount: number;
  /** Additional rows that the adapter could not read. */
  unreadable: number;
  /** Runs after the list was read at the provider, before it arrives here. */
  beforeAnswer: () => Promise<void>;
}

export function createFakeAccount(
  name: string,
  environment: FakeAccount['environment'] = 'sandbox',
): FakeAccount {
  const account: FakeAccount = {
    environment,
    name,
    disputes: [],
    fault: undefined,
    readCount: 0,
    unreadable: 0,
    beforeAnswer: async () => {},
    provider: {
      listDisputes: async () => {
        account.readCount += 1;
        const answer = { found: structuredClone(account.disputes), unreadable: account.unreadable };
        await account.beforeAnswer();
        return account.fault ?? { kind: 'accepted', answer };
      },
    } as Provider,
  };
  return account;
}

export const dispute = (
  id: string,
  more: Partial<FoundDispute['observed']> & { serviceToken?: string | undefined } = {},
): FoundDispute => {
  const { serviceToken = 'serviceToken' in more ? undefined : `service-${id}`, ...observed } = more;
  return {
    observed: { id, amount: 1000, currency: 'EUR', status: 'pending', state: 'open', ...observed },
    ...(serviceToken === undefined ? {} : { serviceToken }),
  };
};

/** Runs a poller over these accounts until the test ends, with controlled time. */
export function startPoller(store: EventStore, accounts: FakeAccount[], more: { pollEveryMs?: number } = {}) {
  const clock = createFakeClock();
  const logged: { level: string; fields: LogFields; message: string }[] = [];
  const note = (level: string) => (fields: LogFields, message: string) => {
    logged.push({ level, fields, message });
  };
  const log: Log = { debug: note('debug'), info: note('info'), warn: note('warn'), error: note('error') };
  /** Payments by environment, account and provider token. */
  const payments = new Map<string, { token: string; team: string }>();
  const onPayments: (RecordDispute & { paymentToken: string })[] = [];
  const poller = createDisputesPoller({
    store,
    clock,
    ids: createFakeIds(1),
    log,
    accounts: { all: () => accounts },
    payments: {
      execute: async (paymentToken, command) => void onPayments.push({ paymentToken, ...command }),
    },
    findByServiceToken: (...key) => payments.get(key.join('/')),
    ...more,
  });
  const stopping = new AbortController();
  const running = poller.run(stopping.signal);
  const stop = async () => {
    stopping.abort();
    await running;
  };
  onTestFinished(stop);
  const hasRead = async (account: FakeAccount, count: number) => {
    // The poller sleeps: the last reading is recorded.
    await eventually(() => {
      expect(account.readCount).toBe(count);
      expect(clock.sleeperCount()).toBe(1);
    });
  };
  return {
    clock,
    logged,
    payments,
    /** Commands received by payments. */
    onPayments,
    poller,
    hasRead,
    async pass(durationMs: number, account: FakeAccount, count: number) {
      await clock.advance(durationMs);
      await hasRead(account, count);
    },
    warnings: (part: string) => logged.filter(({ message }) => message.includes(part)),
    stop,
  };
}
