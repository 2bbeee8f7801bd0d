import { readCallback, callbackPath } from '@tollgate/provider/callbacks';
import { createCommandService } from '@tollgate/command-service';
import { createFingerprints } from '@tollgate/core';
import { type EventStore, nameOfInstallation, requireDataSecrets } from '@tollgate/event-store';
import { type SecurityLog, type TeamKeys, followTeamChanges } from '@tollgate/teams';
import { StartupError, createVault, runWhile } from '@tollgate/service-kit';
import { inBackground } from '../background.ts';
import { watchAccounts, watchIndex, watchReconciliations, watchSchedule } from '../metrics/watch-services.ts';
import { serviceNames } from '../../configuration/service-names.ts';
import type { Parts } from '../parts.ts';
import { createBooks } from './books.ts';
import { type RunningService, degradedWithout } from '../../edge/running-service.ts';

/** The work that is shared by shards. */
const inquirySchedule = 'inquiry-schedule';

export interface CommandServiceOptions {
  /** Of the callback server in this process, if it has one. */
  callbackUrl: string | undefined;
}

/** Needs everything but the secrets of webhooks: it decides, calls, and applies callbacks. */
export async function startCommandService(
  parts: Parts,
  { callbackUrl }: CommandServiceOptions,
): Promise<RunningService> {
  const { config, clock, ids, logOf, metrics, stops } = parts;
  const callbackBase = config.callbackPublicUrl ?? callbackUrl ?? refuseWithoutCallbacks();
  const secrets = parts.callbackSecrets();
  const { accounts, file: accountsFile } = await parts.accounts();
  const [store, bus, runAlone] = await Promise.all([parts.store(), parts.bus(), parts.runAlone()]);
  const [directory, index, members] = await Promise.all([parts.teams(), parts.index(), parts.members()]);
  const dataSecrets = parts.dataSecrets();
  await requireDataSecrets({ store, clock, ids }, dataSecrets);
  const { security, securityLog } = await parts.security();
  followTeams(parts, { store, securityLog });
  const { recordResolution, recordCommand } = security;
  const installation = await nameOfInstallation({ store, clock, ids });
  // Due items are read from the index: a process without one leaves its shards to the others.
  const mayInquire = () => index.building() === undefined;
  const scheduling = (signal: AbortSignal) => members.share(inquirySchedule, signal);
  stops.defer(inBackground((signal) => runWhile({ isAble: mayInquire, clock }, signal, scheduling)));
  const shared = { store, bus, directory, index, accounts, accountsFile, runAlone, clock, ids };
  const { reconciledAfterDays, reviewsByTwo, times } = config;
  const commands = createCommandService({
    ...shared,
    installation,
    readCallback,
    recordResolution,
    recordCommand,
    teamKeys: ownTeamKeys(parts),
    operators: parts.operatorCredentials(),
    callbackUrlOf: (environment, token, issuedAt) =>
      `${callbackBase}${callbackPath(secrets, environment, token, issuedAt)}`,
    fingerprintsOf: createFingerprints(dataSecrets),
    vault: createVault(dataSecrets, ids),
    inquiryDelays: config.inquiryDelays,
    place: () => (mayInquire() ? members.place(inquirySchedule) : undefined),
    findByServiceToken: (environment, account, serviceToken) =>
      index.findByServiceToken(environment, account, serviceToken),
    books: createBooks(index, () => directory.names()),
    reconciledAfterDays,
    reviewsByTwo,
    times,
    log: logOf('command-service'),
  });
  stops.defer(() => commands.stop());
  await commands.start();
  watchAccounts(metrics, accounts);
  const scheduleHealth = () => commands.scheduleHealth();
  watchSchedule(metrics, scheduleHealth);
  watchReconciliations(metrics, () => commands.reconciliations());
  // Inquiries are scheduled from this index: unless it is watched, a stuck one would go unnoticed.
  const isIndexOwn = !parts.runs('query-service');
  if (isIndexOwn) watchIndex(metrics, { store, clock, index });
  const isBuilding = () => isIndexOwn && index.building() !== undefined;
  return {
    registerRoutes: (app) => commands.registerRoutes(app),
    degraded: () => [
      ...degradedWithout(bus)(),
      ...(isBuilding() ? ['index'] : []),
      ...(scheduleHealth().isBehind ? ['inquiry-schedule'] : []),
      ...(commands.accountsFileFault() === undefined ? [] : ['accounts-file']),
    ],
  };
}

/**
 * Undefined if the services run apart, even with a shared folder, or if the key is stored elsewhere: then the command
 * line makes the changes.
 */
function ownTeamKeys({ runs, teamKeys }: Parts): TeamKeys | undefined {
  if (!serviceNames.every(runs)) return undefined;
  try {
    teamKeys.signer();
    return teamKeys;
  } catch {
    return undefined;
  }
}

/** Copies changes of teams into the security log; each process does, and the second one writes nothing. */
function followTeams(
  { clock, logOf, teamKeys, stops }: Parts,
  parts: { store: EventStore; securityLog: SecurityLog },
): void {
  const deps = { ...parts, verifier: teamKeys.verifier(), clock, log: logOf('security') };
  stops.defer(inBackground((signal) => followTeamChanges(deps, signal)));
}

function refuseWithoutCallbacks(): never {
  throw new StartupError(
    'config_invalid',
    'CALLBACK_PUBLIC_URL is not set, and this command-service runs without a callback-ingester. Set it to the URL at which the Payment Service reaches the callback-ingester.',
  );
}
