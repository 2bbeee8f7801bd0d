import { createProjector } from '@tollgate/projector';
import { startAlone } from '../background.ts';
import { watchProjector } from '../metrics/watch-services.ts';
import type { FollowerParts } from './follower-parts.ts';
import { type RunningService, setAside } from '../../edge/running-service.ts';

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
