import { createProjector } from '@tollgate/projector';
import { startAlone } from '../background.ts';
import { watchProjector } from '../metrics/watch-services.ts';
import type { Parts } from '../parts.ts';
import type { RunningService } from '../running-service.ts';

/** Needs the event store only. */
export async function startProjector(parts: Parts): Promise<RunningService> {
  const { clock, ids, logOf, metrics, onStop } = parts;
  const [store, runAlone] = await Promise.all([parts.store(), parts.runAlone()]);
  const projector = createProjector({ store, clock, ids, log: logOf('projector') });
  const health = startAlone('projector', projector, { runAlone, onStop });
  watchProjector(metrics, health);
  return { notReady: () => (health()?.isAdvancing === false ? ['projector'] : []) };
}
