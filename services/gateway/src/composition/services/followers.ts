/** The services that follow the event store and answer no requests. The follower thread runs them, so they load little. */
import { createEventPublisher } from '@tollgate/topics';
import { createProjector } from '@tollgate/views';
import { type RunningService, degradedWithout, setAside } from '../../edge/running-service.ts';
import type { Metrics } from '../../edge/metrics/metrics.ts';
import { startAlone } from '../background.ts';
import { watchProjector, watchPublisher } from '../metrics/watch-services.ts';
import type { Parts } from '../parts.ts';

export type FollowerParts = Pick<
  Parts,
  'config' | 'clock' | 'ids' | 'logOf' | 'stops' | 'store' | 'bus' | 'runAlone'
> & { metrics: Pick<Metrics, 'watch'> };

/** Needs the event store only. One instance projects at a time. */
export async function startProjector(parts: FollowerParts): Promise<RunningService> {
  const { clock, ids, logOf, metrics, stops } = parts;
  const [store, runAlone] = await Promise.all([parts.store(), parts.runAlone()]);
  const projector = createProjector({ store, clock, ids, log: logOf('projector') });
  const health = startAlone('projector', projector, { runAlone, stops });
  watchProjector(metrics, health);
  return {
    // Lists and lookups are answered from the index, which does not need the stored views.
    degraded: () => [
      ...(health()?.isAdvancing === false ? ['projector'] : []),
      ...setAside('projector', health()?.failedStreams ?? []),
    ],
  };
}

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
    // It also fails without the bus: report the cause, not the consequence.
    degraded: () => [
      ...(bus.isConnected() && isFailing() ? ['event-publisher'] : degradedWithout(bus)()),
      ...setAside('event-publisher', health()?.failedStreams ?? []),
    ],
  };
}
