/** The services that follow the store and answer nobody. */
import type { RunningService } from '../../edge/running-service.ts';
import type { Parts } from '../parts.ts';
import { startEventPublisher } from './event-publisher.ts';
import { startProjector } from './projector.ts';

/** On their own thread, where this process has one. */
export async function startFollowers(parts: Parts): Promise<readonly RunningService[]> {
  const thread = await parts.followerThread();
  if (thread !== undefined) return [thread.running];
  const running: RunningService[] = [];
  if (parts.runs('projector')) running.push(await startProjector(parts));
  if (parts.runs('event-publisher')) running.push(await startEventPublisher(parts));
  return running;
}
