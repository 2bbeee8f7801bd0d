/** The services that follow the store and answer nobody: on a thread of their own where others answer beside them. */
import { type ServiceName, serviceNames } from '../../configuration/service-names.ts';
import type { RunningService } from '../../edge/running-service.ts';
import type { Parts } from '../parts.ts';
import { startEventPublisher } from './event-publisher.ts';
import type { FollowerParts } from './follower-parts.ts';
import { startFollowerThread } from './follower-thread.ts';
import { startProjector } from './projector.ts';

const starts = { projector: startProjector, 'event-publisher': startEventPublisher } as const;
export type FollowerName = keyof typeof starts;
const followerNames = Object.keys(starts) as FollowerName[];

/**
 * A request would wait for them: they have as much to do for each payment as its request has. Alone in a process, they need
 * no other thread.
 */
export async function startFollowers(parts: Parts): Promise<readonly RunningService[]> {
  const names = followerNames.filter(parts.runs);
  const areAlone = !serviceNames.some((name) => !isFollower(name) && parts.runs(name));
  if (names.length === 0) return [];
  if (parts.hasFollowerThread === true && !areAlone) return [await startFollowerThread(parts, names)];
  return startHere(parts, names);
}

const isFollower = (name: ServiceName): boolean => (followerNames as readonly string[]).includes(name);

export async function startHere(
  parts: FollowerParts,
  names: readonly FollowerName[],
): Promise<readonly RunningService[]> {
  const running: RunningService[] = [];
  for (const name of names) running.push(await starts[name](parts));
  return running;
}
