import {
  type EndpointCount,
  createWebhookJournal,
  openDeliveries,
  registerNotifierRoutes,
  retainWebhooks,
  runNotifier,
  type WebhookClient,
} from '@tollgate/webhooks';
import { dayMs, omitUndefined, isAllowedOrigin } from '@tollgate/service-kit';
import { inBackground } from '../background.ts';
import { watchEndpoints } from '../metrics/watch-services.ts';
import type { Parts } from '../parts.ts';
import type { RunningService } from '../../edge/running-service.ts';

/** Needs the event store, the directory of teams with the allowed origins, and the secrets that it signs with. */
export async function startNotifier(
  parts: Parts,
  connections: { client?: WebhookClient } = {},
): Promise<RunningService> {
  const { config, clock, ids, logOf, stops } = parts;
  const log = logOf('notifier');
  const [store, runAlone, directory] = await Promise.all([parts.store(), parts.runAlone(), parts.teams()]);
  const isCallbackAllowed = (team: string, url: string) =>
    isAllowedOrigin(url, directory.callbackOriginsOf(team));
  const secretVersionsOf = directory.webhookSecretVersionsOf;
  const allowed = {
    isCallbackAllowed,
    secretVersionsOf,
    ...omitUndefined({ allowedNetworks: config.webhookNetworks }),
  };
  const secrets = parts.webhookSecrets();
  const retentionMs = config.webhookRetentionDays * dayMs;
  const file = parts.dataDirectory.webhooksFile;
  const deliveries = openDeliveries({ store, file, clock, ids, log, retentionMs });
  stops.defer(() => deliveries.stop());
  const notifying = { store, deliveries, clock, ids, log, secrets, ...allowed, ...connections };
  /** Known where webhooks are recorded. */
  let countEndpoints: (() => EndpointCount) | undefined;
  watchEndpoints(parts.metrics, () => countEndpoints?.());
  const onEndpoints = (count: () => EndpointCount) => void (countEndpoints = count);
  const notify = async (held: AbortSignal) => {
    await runNotifier({ ...notifying, onEndpoints }, held);
    countEndpoints = undefined;
  };
  stops.defer(inBackground((signal) => runAlone('notifier', signal, notify)));
  const journal = createWebhookJournal({ store, clock, ids });
  const retaining = { store, journal, clock, ids, log, retentionMs };
  const retain = (held: AbortSignal) => retainWebhooks(retaining, held);
  stops.defer(inBackground((signal) => runAlone('webhook-retention', signal, retain)));
  const { recordCommand } = (await parts.security()).security;
  const answering = { store, deliveries, directory, secrets, clock, ids, log, recordCommand };
  return { registerRoutes: (app) => registerNotifierRoutes(app, answering) };
}
