import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, onTestFinished } from 'vitest';
import type { MessageBus } from '../message-bus.ts';
import { memberProbe, type MemberProbe } from './member-probe.ts';
import { describePublish } from './publish.contract.ts';
import { describeConsume } from './consume.contract.ts';

/** The suite's requirements of an adapter. */
export interface OpenMessageBus {
  bus: MessageBus;
  /** Opens one more bus over the same data, as another process would; the suite closes it. */
  openAnother(): Promise<MessageBus>;
  /** The name of an empty topic that exists, or is created on use, with one partition or more. */
  freshTopic(): Promise<string>;
  /** Releases the other resources of opening, after the buses were closed. */
  dispose?(): Promise<void>;
}

/** The buses of the suite. */
export interface Buses {
  bus(): MessageBus;
  another(): Promise<MessageBus>;
  topic(): Promise<string>;
  /** Joins a group until the test has ended. */
  member(options: Parameters<typeof memberProbe>[1], bus?: MessageBus): MemberProbe;
}

export const freshGroup = () => `group-${randomUUID()}`;

/** The requirements of the port, sentence by sentence; for any number of partitions. */
export function describeMessageBus(name: string, open: () => Promise<OpenMessageBus>): void {
  describe(name, () => {
    let opened: OpenMessageBus;

    beforeAll(async () => {
      opened = await open();
    });

    afterAll(async () => {
      await opened.bus.close();
      await opened.dispose?.();
    });

    const given: Buses = {
      bus: () => opened.bus,
      another: async () => {
        const bus = await opened.openAnother();
        onTestFinished(() => bus.close());
        return bus;
      },
      topic: () => opened.freshTopic(),
      member: (options, bus = opened.bus) => {
        const member = memberProbe(bus, options);
        onTestFinished(() => member.stop());
        return member;
      },
    };
    describePublish(given);
    describeConsume(given);
  });
}
