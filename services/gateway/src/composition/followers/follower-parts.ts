import type { Metrics } from '../../edge/metrics/metrics.ts';
import type { Parts } from '../parts.ts';

/** What a service needs that follows the store and answers nobody: little enough to be had by a thread of its own. */
export type FollowerParts = Pick<
  Parts,
  'config' | 'clock' | 'ids' | 'logOf' | 'stops' | 'store' | 'bus' | 'runAlone'
> & { metrics: Pick<Metrics, 'watch'> };
