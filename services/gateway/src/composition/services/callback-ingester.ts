import { startCallbackServer } from '../../edge/http-servers.ts';
import type { Parts } from '../parts.ts';
import { type RunningService, degradedWithout } from '../../edge/running-service.ts';

/** Needs the bus and the secrets of callback addresses; on Kafka, no event store. */
export async function startCallbackIngester(parts: Parts): Promise<RunningService & { url: string }> {
  const bus = await parts.bus();
  const secrets = parts.callbackSecrets();
  const url = await startCallbackServer(parts, { bus, secrets, metrics: parts.metrics }, parts.stops);
  return { url, degraded: degradedWithout(bus) };
}
