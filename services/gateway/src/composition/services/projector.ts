import {
  type Projector,
  type ProjectorHealth,
  createProjector,
  createTotalsProjector,
} from '@tollgate/projector';
import { shardsOf } from '@tollgate/views';
import { startAlone } from '../background.ts';
import { watchProjectors } from '../metrics/watch-services.ts';
import type { Parts } from '../parts.ts';
import type { RunningService } from '../running-service.ts';

/** A projector and what it projects, as metrics name it. */
export interface RunningProjector {
  projection: string;
  /** Undefined while another instance does its work. */
  health: () => ProjectorHealth | undefined;
}

/** Needs the event store only. One projector per shard of the documents, and one of the totals, each in one instance at a time. */
export async function startProjector(parts: Parts): Promise<RunningService> {
  const { config, clock, ids, logOf, metrics, onStop } = parts;
  const [store, runAlone] = await Promise.all([parts.store(), parts.runAlone()]);
  const options = { store, clock, ids, log: logOf('projector') };
  const start = (projection: string, lease: string, projector: Projector): RunningProjector => ({
    projection,
    health: startAlone(lease, projector, { runAlone, onStop }),
  });
  const views = shardsOf(config.projectorShards).map((shard) => {
    const suffix = shard.count === 1 ? '' : `-${shard.number}-of-${shard.count}`;
    return start(`documents${suffix}`, `projector${suffix}`, createProjector({ ...options, shard }));
  });
  const totals = start('totals', 'projector-totals', createTotalsProjector(options));
  watchProjectors(metrics, [...views, totals]);
  return {
    // Without documents nothing that was written can be read back; without totals, one answer is missing.
    notReady: () => (views.some(isStopped) ? ['projector'] : []),
    degraded: () => (isStopped(totals) ? ['totals'] : []),
  };
}

const isStopped = ({ health }: RunningProjector): boolean => health()?.isAdvancing === false;
