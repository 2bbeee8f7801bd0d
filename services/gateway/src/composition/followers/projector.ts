import { createProjector } from '@tollgate/projector';
import { shardsOf, viewSchemaVersions } from '@tollgate/views';
import { startAlone } from '../background.ts';
import { type RunningProjector, watchProjectors } from '../metrics/watch-services.ts';
import type { FollowerParts } from './follower-parts.ts';
import { type RunningService, setAside } from '../../edge/running-service.ts';

/** Releases whose views have other schemas each have one at work, for their own readers. */
const leaseName = `projector-${viewSchemaVersions.replaceAll(' ', ',')}`;

/** Needs the event store only. One projector per shard, each in one instance at a time. */
export async function startProjector(parts: FollowerParts): Promise<RunningService> {
  const { config, clock, ids, logOf, metrics, stops } = parts;
  const [store, runAlone] = await Promise.all([parts.store(), parts.runAlone()]);
  const log = logOf('projector');
  const projectors = shardsOf(config.projectorShards).map((shard): RunningProjector => {
    const suffix = shard.count === 1 ? '' : `-${shard.number}-of-${shard.count}`;
    // A file is cheaper to write than to wait for: there, what was just written is read back at once.
    const hold = config.eventStore === undefined ? { holdMs: 0 } : {};
    const projector = createProjector({ store, clock, ids, log, shard, ...hold });
    return {
      projection: `views${suffix}`,
      health: startAlone(`${leaseName}${suffix}`, projector, { runAlone, stops }),
    };
  });
  watchProjectors(metrics, projectors);
  const isStopped = ({ health }: RunningProjector): boolean => health()?.isAdvancing === false;
  // Payments whose views stand still.
  const failedStreams = () => projectors.flatMap(({ health }) => health()?.failedStreams ?? []);
  return {
    // Without views, writes cannot be read back.
    notReady: () => (projectors.some(isStopped) ? ['projector'] : []),
    degraded: () => setAside('projector', failedStreams()),
  };
}
