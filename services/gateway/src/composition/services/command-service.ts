import { createCommandService } from '@tollgate/command-service';
import { StartupError, callbackPath } from '@tollgate/service-kit';
import { registerInquiryHints } from '../../edge/inquiry-hints.ts';
import { watchAccounts, watchIndex } from '../metrics/watch-services.ts';
import type { Parts } from '../parts.ts';
import { type RunningService, degradedWithout } from '../running-service.ts';

export interface CommandServiceOptions {
  /** Of the callback server in this process, where it has one. */
  callbackUrl: string | undefined;
}

/** Needs everything but the secrets of webhooks: it decides, calls, and applies callbacks. */
export async function startCommandService(
  parts: Parts,
  { callbackUrl }: CommandServiceOptions,
): Promise<RunningService & { inquireForReader: (token: string) => void }> {
  const { config, clock, ids, logOf, metrics, onStop } = parts;
  const callbackBase = config.callbackPublicUrl ?? callbackUrl ?? refuseWithoutCallbacks();
  const secrets = parts.callbackSecrets();
  const { accounts } = await parts.accounts();
  const [store, bus, runAlone] = await Promise.all([parts.store(), parts.bus(), parts.runAlone()]);
  const [directory, index] = await Promise.all([parts.teams(), parts.index()]);
  const commands = createCommandService({
    ...{ store, bus, directory, clock, ids, runAlone, accounts },
    callbackUrlOf: (environment, token) => `${callbackBase}${callbackPath(secrets, environment, token)}`,
    openPayments: (page) => index.openPayments(page),
    openPayouts: (page) => index.openPayouts(page),
    findByServiceToken: (environment, account, serviceToken) =>
      index.findByServiceToken(environment, account, serviceToken),
    times: config.times,
    log: logOf('command-service'),
  });
  onStop(() => commands.stop());
  commands.start();
  watchAccounts(metrics, accounts);
  // What is open is looked after from this index: where nobody else watches it, one that stands still would not be seen.
  const isIndexOwn = !parts.runs('query-service');
  if (isIndexOwn) watchIndex(metrics, { store, clock, index });
  const isBuilding = () => isIndexOwn && index.building() !== undefined;
  return {
    registerRoutes: (app) => commands.registerRoutes(app),
    registerInternalRoutes: (app) => registerInquiryHints(app, (token) => commands.inquireForReader(token)),
    inquireForReader: (token) => commands.inquireForReader(token),
    degraded: () => [...degradedWithout(bus)(), ...(isBuilding() ? ['index'] : [])],
  };
}

function refuseWithoutCallbacks(): never {
  throw new StartupError(
    'config_invalid',
    'Set CALLBACK_PUBLIC_URL to where the Payment Service reaches the callback-ingester: the command-service, which tells it that address, runs without one here.',
  );
}
