/** Readiness of the services behind the front door, queried on each request. */
import { type Clock, valueWithin } from '@tollgate/service-kit';
import type { Dispatcher } from 'undici';
import { z } from 'zod';
import type { RoutedService } from '../../configuration/service-names.ts';

/** An instance without an answer by then counts as unavailable. @unit milliseconds */
const tellWithinMs = 1_000;

const readinessSchema = z.object({ ready: z.boolean(), degraded: z.array(z.string()) });

export type Origins = Readonly<Partial<Record<RoutedService, readonly string[]>>>;

interface Asking {
  agent: Pick<Dispatcher, 'request'>;
  clock: Pick<Clock, 'after'>;
}

export async function readinessOf(asking: Asking, upstreams: Origins) {
  const reports = await Promise.all(
    Object.entries(upstreams).map(async ([service, origins]) => ({
      service,
      instances: await Promise.all(origins.map((origin) => askInTime(asking, origin))),
    })),
  );
  const isReady = (instance: Reported) => instance?.ready === true;
  return {
    /** Services without a ready instance. */
    notReady: reports.filter(({ instances }) => !instances.some(isReady)).map(({ service }) => service),
    /** Services with some unavailable instances, and degradations of ready ones. */
    degraded: reports.flatMap(({ service, instances }) => [
      ...(instances.some(isReady) && !instances.every(isReady) ? [service] : []),
      ...instances.flatMap((instance) => instance?.degraded ?? []),
    ]),
  };
}

type Reported = z.infer<typeof readinessSchema> | undefined;

/** An agent's own timeouts begin when a connection is free, and all of them may be busy for long. */
function askInTime({ agent, clock }: Asking, origin: string): Promise<Reported> {
  return valueWithin(clock, tellWithinMs, askOne(agent, origin));
}

async function askOne(agent: Pick<Dispatcher, 'request'>, origin: string): Promise<Reported> {
  const timeouts = { headersTimeout: tellWithinMs, bodyTimeout: tellWithinMs };
  try {
    const answer = await agent.request({ origin, path: '/readyz', method: 'GET', ...timeouts });
    return readinessSchema.safeParse(await answer.body.json()).data;
  } catch {
    // Refused, too slow, or not JSON: it counts as unavailable.
    return undefined;
  }
}
