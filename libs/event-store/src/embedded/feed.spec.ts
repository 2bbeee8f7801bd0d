import { describe, expect, it } from 'vitest';
import type { RecordedEvent } from '../event-store.ts';
import { createFeed } from './feed.ts';
import { fromPosition, toPosition } from './position.ts';

const eventAt = (rowNumber: number, stream: string) =>
  ({ kind: 'event', stream, position: toPosition(rowNumber) }) as RecordedEvent;

/** A file whose events the test records; each has so much text. */
function givenFile({ bytes = 100, windowMax = 1_000 } = {}) {
  const events: RecordedEvent[] = [];
  const file = { commits: 0, scans: 0 };
  const scanner = (prefixes: readonly string[]) => (after: number) => {
    file.scans += 1;
    const window = events.filter(({ position }) => fromPosition(position) > after).slice(0, windowMax);
    const wanted = window.filter(({ stream }) => prefixes.some((prefix) => stream.startsWith(prefix)));
    const scannedTo = fromPosition(window.at(-1)?.position ?? toPosition(after));
    const isEnd = window.length < windowMax;
    return { events: wanted, sizes: wanted.map(() => bytes), scannedTo, isEnd };
  };
  const record = (...streams: string[]) => {
    for (const stream of streams) events.push(eventAt(events.length + 1, stream));
    file.commits += 1;
  };
  return { file, record, feed: createFeed({ scanner }, { count: () => file.commits }) };
}

const streamsIn = (window: { events: RecordedEvent[] } | undefined) =>
  window?.events.map(({ stream }) => stream);

describe('a feed', () => {
  it('is read once for all, and gives each what it wants', () => {
    const { file, record, feed } = givenFile();
    const [payments, payouts] = [feed.join(['payment-'], 0), feed.join(['payout-'], 0)];
    record('payment-1', 'payout-1', 'payment-2');
    expect(streamsIn(payments.since(0))).toEqual(['payment-1', 'payment-2']);
    expect(streamsIn(payouts.since(0))).toEqual(['payout-1']);
    expect(payments.since(3)).toMatchObject({ events: [], scannedTo: 3, isEnd: true });
    expect(file.scans).toBe(1);
  });

  it('tells how many commits were noticed when it was read, so that nobody sleeps through a later one', () => {
    const { record, feed } = givenFile();
    const [one, other] = [feed.join(['payment-'], 0), feed.join(['payment-'], 0)];
    record('payment-1');
    expect(one.since(0)?.asOf).toBe(1);
    record('payment-2');
    expect(other.since(0)).toMatchObject({ scannedTo: 1, asOf: 1 });
    expect(streamsIn(other.since(1))).toEqual(['payment-2']);
  });

  // The feed said that there was more: the member asked again and again, at full speed, and never waited for a commit.
  it('has nothing for a member that comes from behind the last event, which was removed', () => {
    const { record, feed } = givenFile();
    record('payment-1');
    feed.join(['payment-'], 1);
    const ahead = feed.join(['endpoints-'], 2);
    expect(ahead.since(2)).toBeUndefined();
    record('payment-2', 'endpoints-1');
    expect(streamsIn(ahead.since(2))).toEqual(['endpoints-1']);
  });

  it('has nothing for a member that is further behind than what it holds', () => {
    const { record, feed } = givenFile({ bytes: 1_048_576 });
    const [one, slow] = [feed.join(['payment-'], 0), feed.join(['payment-'], 0)];
    record('payment-1', 'payment-2', 'payment-3', 'payment-4', 'payment-5', 'payment-6');
    one.since(0);
    expect(slow.since(0)).toBeUndefined();
    expect(streamsIn(slow.since(2))).toEqual(['payment-3', 'payment-4', 'payment-5', 'payment-6']);
  });

  it('has nothing for a member that comes later until that has caught up by itself', () => {
    const { record, feed } = givenFile();
    const payments = feed.join(['payment-'], 0);
    record('payment-1', 'payout-1');
    payments.since(0);
    const payouts = feed.join(['payout-'], 0);
    expect(payouts.since(1)).toBeUndefined();
    record('payout-2');
    expect(streamsIn(payouts.since(2))).toEqual(['payout-2']);
  });

  it('goes on to where a member has come by itself, window by window', () => {
    const { record, feed } = givenFile({ windowMax: 2 });
    feed.join(['payment-'], 0);
    record('payment-1', 'payment-2', 'payment-3', 'payment-4', 'payment-5');
    const ahead = feed.join(['payment-'], 4);
    expect(ahead.since(4)).toMatchObject({ events: [], scannedTo: 4, isEnd: false });
    expect(ahead.since(4)).toMatchObject({ events: [], scannedTo: 4, isEnd: false });
    expect(streamsIn(ahead.since(4))).toEqual(['payment-5']);
  });

  it('starts over when all members have left', () => {
    const { record, feed } = givenFile();
    feed.join(['payment-'], 0).leave();
    record('payment-1', 'payment-2');
    const later = feed.join(['payment-'], 1);
    expect(streamsIn(later.since(1))).toEqual(['payment-2']);
  });
});
