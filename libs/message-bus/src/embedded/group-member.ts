import {
  decisionTriesMax,
  readLast,
  runUnderLease,
  type EventStore,
  type Position,
} from '@tollgate/event-store';
import type { Clock, Ids, Log } from '@tollgate/service-kit';
import { BusUnavailable } from '../message-bus.ts';
import { createDoorbell, type Doorbell } from './doorbell.ts';
import { consumePartition, type Handle } from './partition-consumer.ts';
import { untilItWorks } from './retrying.ts';
import {
  type GroupPartition,
  type PartitionCounts,
  groupStream,
  leaseName,
  partitionStream,
  topicPrefix,
} from './topics.ts';

export interface GroupMember {
  store: EventStore;
  clock: Clock;
  ids: Ids;
  log: Log;
  partitionCount: PartitionCounts;
  holder: string;
  isGone: (holder: string) => boolean;
  leaseDurationMs: number;
}

export interface Membership {
  group: string;
  topics: readonly string[];
  signal: AbortSignal;
}

/**
 * Takes part in a group until the signal is aborted: runs for the lease of each partition, and consumes those that it
 * gets. A failure that is not the store's passing one ends all of it.
 */
export async function takePart(member: GroupMember, membership: Membership, handle: Handle): Promise<void> {
  const failed = new AbortController();
  const signal = AbortSignal.any([membership.signal, failed.signal]);
  const { clock, log } = member;
  const joining = { clock, log, signal, fields: { operation: 'join', token: membership.group } };
  const eventId = member.ids.uuid();
  const joined = await untilItWorks(joining, () => join(member, membership, eventId));
  if (joined === undefined) return;
  const { doorbells, position } = joined.result;
  const work = [
    ringDoorbells(member.store, { doorbells, from: position, topics: membership.topics, signal }),
    ...[...doorbells.values()].map((each) => consumeUnderLease(member, { ...each, handle, signal })),
  ];
  const outcomes = await Promise.allSettled(
    work.map((each) => each.catch((error: unknown) => fail(failed, error))),
  );
  for (const outcome of outcomes) if (outcome.status === 'rejected') throw outcome.reason;
}

function fail(failed: AbortController, error: unknown): never {
  failed.abort();
  throw error;
}

type Doorbells = Map<string, { partition: GroupPartition; doorbell: Doorbell }>;

/**
 * Finds the partitions. The announcement also has the end of the store: what was there before needs no doorbell. Repeat a
 * try that failed with the same `eventId`.
 *
 * @throws StoreUnavailable, BusUnavailable
 */
async function join(
  { store, partitionCount, holder }: GroupMember,
  { group, topics: names }: Membership,
  eventId: string,
): Promise<{ doorbells: Doorbells; position: Position }> {
  const doorbells: Doorbells = new Map();
  for (const topic of names) {
    const count = await partitionCount(topic);
    for (let partition = 0; partition < count; partition += 1) {
      const each = { partition: { group, topic, partition }, doorbell: createDoorbell() };
      doorbells.set(partitionStream(topic, partition), each);
    }
  }
  const stream = groupStream(group);
  await store.keepLast(stream, 1);
  const joined = { id: eventId, type: 'MemberJoined', data: { holder, topics: names }, metadata: {} };
  for (let tryNumber = 1; tryNumber <= decisionTriesMax; tryNumber += 1) {
    const last = await readLast(store, stream);
    const answer = await store.append(stream, [joined], last?.revision ?? 'no-stream');
    if (answer.kind === 'appended') return { doorbells, position: answer.position };
  }
  throw new BusUnavailable(
    'group_contended',
    `Others were faster ${decisionTriesMax} times to join ${group}.`,
  );
}

async function ringDoorbells(
  store: EventStore,
  options: { doorbells: Doorbells; from: Position; topics: readonly string[]; signal: AbortSignal },
): Promise<void> {
  const { doorbells, from, topics, signal } = options;
  for await (const each of store.subscribe({ from, prefixes: topics.map(topicPrefix), signal })) {
    if (each.kind === 'event') doorbells.get(each.stream)?.doorbell.ring();
  }
}

async function consumeUnderLease(
  { store, clock, ids, log, holder, isGone, leaseDurationMs }: GroupMember,
  {
    partition,
    doorbell,
    handle,
    signal,
  }: { partition: GroupPartition; doorbell: Doorbell; handle: Handle; signal: AbortSignal },
): Promise<void> {
  const lease = {
    store,
    clock,
    ids,
    log,
    holder,
    isGone,
    signal,
    name: leaseName(partition),
    durationMs: leaseDurationMs,
  };
  const consumer = { store, clock, ids, log, partition, doorbell, handle };
  const { topic, partition: number } = partition;
  const fields = { operation: 'consume', topic, partition: number };
  // Coming back without the signal means that another member has the partition.
  while (!signal.aborted) {
    await untilItWorks({ clock, log, signal, fields }, () =>
      runUnderLease(lease, (held) => consumePartition(consumer, held)),
    );
  }
}
