import { createWebhookJournal, registerWebhookRoutes, retainWebhooks, runNotifier } from '@tollgate/notifier';
import { isAllowedOrigin } from '@tollgate/teams';
import { given } from '@tollgate/service-kit';
import { inBackground } from '../background.ts';
import type { Parts } from '../parts.ts';
import type { RunningService } from '../../edge/running-service.ts';

/** Needs the event store, the directory of teams with the allowed origins, and the secrets that it signs with. */
export async function startNotifier(parts: Parts): Promise<RunningService> {
  const { config, clock, ids, logOf, stops } = parts;
  const log = logOf('notifier');
  const [store, runAlone, directory] = await Promise.all([parts.store(), parts.runAlone(), parts.teams()]);
  const isCallbackAllowed = (team: string, url: string) =>
    isAllowedOrigin(url, directory.callbackOriginsOf(team));
  const secretVersionsOf = directory.webhookSecretVersionsOf;
  const allowed = {
    isCallbackAllowed,
    secretVersionsOf,
    ...given({ allowedNetworks: config.webhookNetworks }),
  };
  const notifying = { store, clock, ids, log, secrets: parts.webhookSecrets(), ...allowed };
  stops.defer(inBackground((signal) => runAlone('notifier', signal, (held) => runNotifier(notifying, held))));
  const journal = createWebhookJournal({ store, clock, ids });
  const retaining = {
    store,
    journal,
    clock,
    ids,
    log,
    retentionMs: config.webhookRetentionDays * 86_400_000,
  };
  const retain = (held: AbortSignal) => retainWebhooks(retaining, held);
  stops.defer(inBackground((signal) => runAlone('webhook-retention', signal, retain)));
  return { registerRoutes: (app) => registerWebhookRoutes(app, { store, journal, directory, log }) };
}
