/** The two machines of a world, and how a gateway process is started on one of them, on a faulty store, bus and network. */
import { inspect } from 'node:util';
import { type BusRecord, BusUnavailable, type KafkaMessageBus, type MessageBus } from '@tollgate/message-bus';
import { type Log, errorCode } from '@tollgate/service-kit';
import { requireNoSecret } from '../checks/secrets.ts';
import { type Disasters, stopMachine } from '../faults/disasters.ts';
import { createServiceApi } from '../payment-service/api.ts';
import { createConnections } from '../payment-service/network.ts';
import { createWebhookReceivers } from '../people/receivers.ts';
import { accounts, createSimulatedDirectory } from '../people/teams.ts';
import type { World } from '../world.ts';
import { type Life, type Machine, createMachine } from './machine.ts';
import { configOf, startProcess } from './process.ts';
import { createSimulatedStore } from './simulated-store.ts';

/** Adds the machines and defines how each one boots. */
export function addMachines(world: World, disasters: Disasters): void {
  const { random, scheduler, faults, trace } = world;
  const answerOf = createServiceApi(world.ledger, random.fork('service'), faults);
  const leaseMs = random.fork('lease').pick([10_000, 30_000, 60_000, 60_000]);
  // The first inquiry about final payments falls into the safety phase, however short the seed is.
  const settledAfterS =
    faults.blind === 'inquiries about what is final'
      ? [30 * 86_400]
      : [Math.round(300 * world.pace), 900, 2_400, 6_600];
  const config = configOf(settledAfterS, world.isReviewByTwo);
  const webhookClient = createWebhookReceivers(world);
  const directory = createSimulatedDirectory(world.rules);
  for (const name of ['a', 'b']) {
    const machine = createMachine(name, scheduler, random.fork(`machine ${name}`));
    world.machines.push({ machine, process: undefined });
  }
  world.boot = (running) => {
    const { machine } = running;
    const life = machine.life();
    running.process = undefined;
    const store = createSimulatedStore(world, life, {
      onAppended: (stream) => stopBehindAppend(world, machine, { life, stream }),
      onTaken: () => {
        const { process } = running;
        if (life.isAlive() && process !== undefined) world.checks.indexes.onTaken(process, life.name);
      },
    });
    const pause = () =>
      stopMachine(world, machine, {
        durationMs: life.random.between(6_000, 60_000),
        place: 'in a handshake',
      });
    const connectionsTo = (account: string) => createConnections({ world, account, life, answerOf, pause });
    trace.log(`${life.name} starts`);
    startProcess({
      life,
      store,
      wrapBus: (bus) => wrapBus(world, bus, life),
      directory,
      accounts,
      connectionsTo,
      webhookClient: webhookClient(life),
      log: listeningLog(world, life),
      leaseMs,
      config,
    }).then(
      (process) => {
        running.process = process;
        trace.log(`${life.name} serves`);
      },
      (error: unknown) => {
        trace.log(`${life.name} could not start: ${errorCode(error) ?? String(error)}`);
        if (errorCode(error) === undefined) world.complain('start', String(error));
        disasters.restart(running, 1_000);
      },
    );
  };
}

/** Pauses a process after it has announced its next step, so that others act on the announcement first. */
function stopBehindAppend(
  { faults, trace }: World,
  machine: Machine,
  { life, stream }: { life: Life; stream: string },
): void {
  // Views, topic records and leases are frequent and announce no call.
  const isDerived = /^(view|checkpoint|lease|bus)/.test(stream);
  if (isDerived || !faults.strikes('pause-behind-append', life.random)) return;
  const durationMs = life.random.pick([2_000, 8_000, 20_000]);
  trace.log(`${life.name} is stopped for ${durationMs} ms behind an append to ${stream}`);
  machine.pause(durationMs);
}

/**
 * Callbacks are queued in the store, public records are published to a broker. Either may fail before, after, or halfway through.
 */
function wrapBus(
  { faults, downUntil, scheduler, broker }: World,
  bus: MessageBus,
  life: Life,
): KafkaMessageBus {
  const unavailable = () => new BusUnavailable('bus_unavailable', 'The simulated bus does not confirm.');
  return {
    ...broker,
    ...bus,
    publish: async (topic, sent) => {
      const { publish } = topic.startsWith('gateway.') ? broker : bus;
      // A send that was on the wire at a takeover may repeat a batch (docs/operator/kafka.md). Consumers drop it by `ce_id`.
      const isRepeat = ({ headers }: (typeof sent)[number]) =>
        broker.records.some((known) => known.topic === topic && known.headers['ce_id'] === headers['ce_id']);
      const messages = life.isWaking() ? sent.filter((message) => !isRepeat(message)) : sent;
      if (scheduler.now() < downUntil.bus) throw unavailable();
      if (faults.strikes('bus-partly-written', life.random)) {
        await publish(topic, messages.slice(0, life.random.whole(0, messages.length)));
        throw unavailable();
      }
      return publish(topic, messages);
    },
  };
}

/** A defect reported in the log is a violation as well. */
function listeningLog({ complain }: World, life: Life): Log {
  const hear = (fields: { error?: unknown }, message: string) => {
    const { error } = fields;
    requireNoSecret('the log', `${message} ${inspect(fields)}`, complain);
    if (!(error instanceof Error)) return;
    const code = errorCode(error);
    const isDefect =
      code === 'invariant_violation' ||
      (code === undefined &&
        /^(TypeError|RangeError|ReferenceError|InvariantViolation|ZodError)$/.test(error.name));
    if (isDefect) complain('defect', `${life.name}: ${message}: ${error.stack ?? String(error)}`);
  };
  return { debug: () => undefined, info: () => undefined, warn: hear, error: hear };
}

/** An in-memory Kafka with one partition per topic. It keeps every accepted record. */
export interface Broker extends Pick<
  KafkaMessageBus,
  'publish' | 'lastPerPartition' | 'partitionOf' | 'address'
> {
  /** All published records, in order. */
  records: readonly BusRecord[];
}

export function createBroker(address: string): Broker {
  const records: BusRecord[] = [];
  return {
    records,
    publish: async (topic, messages) => {
      for (const message of messages)
        records.push({ ...message, topic, partition: 0, offset: String(records.length), timestamp: 0 });
    },
    lastPerPartition: async (topic) => {
      const last = records.findLast((record) => record.topic === topic);
      return last === undefined ? [] : [last];
    },
    partitionOf: async () => 0,
    address: async () => address,
  };
}
