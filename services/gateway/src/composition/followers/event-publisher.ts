import { dayMs } from '@tollgate/service-kit';
import { createEventPublisher } from '@tollgate/event-publisher';
import { callbackGroup } from '@tollgate/command-service/settings';
import { gatewayTopics, providerCallbacksTopic } from '@tollgate/gateway-api';
import { type Retention, retainTopics } from '@tollgate/message-bus';
import { inBackground, startAlone } from '../background.ts';
import { watchPublisher } from '../metrics/watch-services.ts';
import type { FollowerParts } from './follower-parts.ts';
import { type RunningService, degradedWithout, setAside } from '../../edge/running-service.ts';

/** Needs the event store and the bus. */
export async function startEventPublisher(parts: FollowerParts): Promise<RunningService> {
  const { clock, ids, logOf, metrics, stops } = parts;
  const [store, bus, runAlone] = await Promise.all([parts.store(), parts.bus(), parts.runAlone()]);
  const publisher = createEventPublisher({ store, bus, clock, ids, log: logOf('event-publisher') });
  const health = startAlone('event-publisher', publisher, { runAlone, stops });
  watchPublisher(metrics, health);
  if (parts.config.kafka === undefined) {
    const retentions = retentionsOf(parts.config.topicRetentionDays);
    const deps = { store, clock, log: logOf('topic-retention') };
    const retain = (held: AbortSignal) => retainTopics(deps, retentions, held);
    stops.defer(inBackground((signal) => runAlone('topic-retention', signal, retain)));
  }
  const isFailing = () => health()?.failure !== undefined;
  return {
    // It fails without the bus, too: the cause is reported, not the consequence.
    degraded: () => [
      ...(bus.isConnected() && isFailing() ? ['event-publisher'] : degradedWithout(bus)()),
      ...setAside('event-publisher', health()?.failedStreams ?? []),
    ],
  };
}

/** On Kafka, each topic keeps its records for as long as it is set to. A callback stays until it was handled. */
const retentionsOf = (publicDays: number): Retention[] =>
  gatewayTopics.map(({ topic, retentionMs }) => ({
    topic,
    retentionMs: retentionMs === 'forever' ? publicDays * dayMs : retentionMs,
    ...(topic === providerCallbacksTopic ? { heldBy: callbackGroup } : {}),
  }));
