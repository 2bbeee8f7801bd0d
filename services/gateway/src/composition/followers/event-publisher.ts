import { createEventPublisher } from '@tollgate/event-publisher';
import { startAlone } from '../background.ts';
import { watchPublisher } from '../metrics/watch-services.ts';
import type { FollowerParts } from './follower-parts.ts';
import { type RunningService, degradedWithout, setAside } from '../../edge/running-service.ts';

/** Needs the event store and Kafka. Without Kafka, the topics are computed when they are read. */
export async function startEventPublisher(parts: FollowerParts): Promise<RunningService> {
  const { clock, ids, logOf, metrics, stops } = parts;
  const log = logOf('event-publisher');
  const [store, bus, runAlone] = await Promise.all([parts.store(), parts.bus(), parts.runAlone()]);
  if (!('lastPerPartition' in bus)) return {};
  const publisher = createEventPublisher({ store, bus, clock, ids, log });
  const health = startAlone('event-publisher', publisher, { runAlone, stops });
  watchPublisher(metrics, health);
  const isFailing = () => health()?.failure !== undefined;
  return {
    // It fails without the bus, too: the cause is reported, not the consequence.
    degraded: () => [
      ...(bus.isConnected() && isFailing() ? ['event-publisher'] : degradedWithout(bus)()),
      ...setAside('event-publisher', health()?.failedStreams ?? []),
    ],
  };
}
