/** The API server with all its services over a real store, without a socket, for specs. */
import { readCallback } from '@tollgate/provider/callbacks';
import { type Account, type Environment, createFingerprints, inquiryDelays } from '@tollgate/core';
import { createCommandService } from '@tollgate/command-service';
import type { EventStore } from '@tollgate/event-store';
import { temporaryStore } from '@tollgate/event-store/testing';
import { createEmbeddedMessageBus } from '@tollgate/message-bus';
import { openDeliveries, registerNotifierRoutes } from '@tollgate/webhooks';
import { createRecordOf } from '@tollgate/topics';
import { createQueryService } from '@tollgate/query-service';
import { openRequestLedger } from '@tollgate/requests';
import { createPaymentIndex } from '@tollgate/lists';
import {
  type IdentityProviderConfig,
  type SandboxControls,
  registerConsole,
  sessionIdOf,
} from '@tollgate/console';
import {
  type OperatorCredentials,
  type OperatorRole,
  type SecurityWatch,
  createCredentialRegister,
  createOperatorCredentials,
  createTeamDirectory,
  everywhere,
} from '@tollgate/teams';
import { testTeamKeys, testVerifier } from '@tollgate/teams/testing';
import {
  createRequestIds,
  createVault,
  omitUndefined,
  parseDataSecrets,
  parseWebhookSecrets,
  readConfig,
  silentLog,
  systemClock,
  systemIds,
} from '@tollgate/service-kit';
import type { FastifyInstance, LightMyRequestResponse, RouteOptions } from 'fastify';
import { onTestFinished } from 'vitest';
import { gatewayConfigSchema } from '../../configuration/config.ts';
import { parseInternalSecrets } from '../../configuration/internal-secrets.ts';
import { createServer } from '../http-server.ts';
import { registerApi } from '../http-servers.ts';
import { createMetrics } from '../metrics/metrics.ts';
import { registerDocumentation } from '../openapi/documentation-routes.ts';
import type { AccountsFile } from '@tollgate/merchant-accounts';
import { createAccounts } from '@tollgate/accounts';

const operatorSecrets = parseInternalSecrets(`k1:${'o'.repeat(32)}`);
const dataSecrets = parseDataSecrets(`k1:${'s'.repeat(32)}`);

export interface TestedApi {
  app: FastifyInstance;
  store: EventStore;
  /** Credentials of people. A token that it issues is registered before the next request is answered. */
  credentials: OperatorCredentials;
  /** Calls a route across teams as a person with this role in all teams: GET, or POST with a body. */
  askAs(role: OperatorRole, path: string, body?: object | string): Promise<LightMyRequestResponse>;
  /** The `Authorization` header of a person with this role in all teams. */
  bearerOf(role: OperatorRole, person?: string): string;
  /** Entries in the security log. */
  recorded: readonly Parameters<SecurityWatch['recordCommand']>[0][];
  /** Every route that the server has. */
  routes: readonly RouteOptions[];
}

export interface TestedApiOptions {
  hasConsole?: boolean;
  /** The identity provider of the console. */
  identityProvider?: IdentityProviderConfig;
  /** Of the console: a browser that stops reading a file is disconnected after this. */
  exportStalledMs?: number;
  /** Of the console: if there is a sandbox to play with. */
  sandbox?: SandboxControls;
  /** @default none */
  accounts?: readonly Account[];
  /** True if the accounts are those of a file. */
  accountsFile?: AccountsFile;
  /** Environments whose reviews two people resolve. @default none */
  reviewsByTwo?: readonly Environment[];
  /** Whether changes of teams can be signed. */
  isSigning?: boolean;
}

/** @param seed content of the store before the services start */
export async function startApi(
  seed: (store: EventStore) => Promise<void> = async () => {},
  {
    hasConsole = false,
    isSigning = false,
    accounts = [],
    reviewsByTwo = [],
    accountsFile,
    identityProvider,
    exportStalledMs,
    sandbox,
  }: TestedApiOptions = {},
): Promise<TestedApi> {
  const store = await temporaryStore();
  await seed(store);
  const deps = { store, clock: systemClock, ids: systemIds, log: silentLog };
  const credentials = createOperatorCredentials(operatorSecrets, deps);
  const register = createCredentialRegister({ ...deps, credentials });
  const registering: Promise<boolean>[] = [];
  const issue: OperatorCredentials['issue'] = (...asked) => {
    const claims = credentials.newClaims(...asked);
    if (claims.use === 'api') registering.push(register.add(claims));
    return credentials.seal(claims);
  };
  const directory = createTeamDirectory({ ...deps, verifier: testVerifier, operators: credentials });
  const index = createPaymentIndex({ ...deps, file: ':memory:' });
  await Promise.all([directory.start(), index.start()]);
  const recorded: Parameters<SecurityWatch['recordCommand']>[0][] = [];
  const commands = createCommandService({
    recordCommand: async (asked) => void recorded.push(asked),
    installation: 'installation-1',
    ...(isSigning ? { teamKeys: testTeamKeys } : {}),
    operators: credentials,
    ...deps,
    directory,
    accounts: createAccounts({ ...deps, accounts }),
    accountsFile,
    bus: createEmbeddedMessageBus({ ...deps, holder: 'spec' }),
    readCallback,
    callbackUrlOf: () => 'https://gateway.example/callbacks',
    fingerprintsOf: createFingerprints(dataSecrets),
    vault: createVault(dataSecrets, systemIds),
    runAlone: (_name, signal, work) => work(signal),
    findByServiceToken: () => undefined,
    index,
    inquiryDelays,
    place: () => ({ rank: 0, count: 1 }),
    books: { find: () => undefined, findPayment: () => undefined, pagesOf: () => [] },
    reconciledAfterDays: [],
    reviewsByTwo,
    times: { sendWithinMs: 1_000, callDeadlineMs: 1_000, quietMs: 1_000 },
  });
  // Only with accounts there is anything to do in the background.
  if (accounts.length > 0) await commands.start();
  const deliveries = openDeliveries({ ...deps, file: ':memory:', retentionMs: 86_400_000 });
  const recordCommand: SecurityWatch['recordCommand'] = async (asked) => void recorded.push(asked);
  const watched = { recordCommand };
  const notifying = {
    ...deps,
    ...watched,
    deliveries,
    directory,
    secrets: parseWebhookSecrets(`k1:${'m'.repeat(32)}`),
  };
  const webhooks = { registerRoutes: (api: FastifyInstance) => registerNotifierRoutes(api, notifying) };
  const config = readConfig(gatewayConfigSchema, {});
  const requests = openRequestLedger({ ...deps, file: ':memory:', ...config.requests });
  const newRequestId = createRequestIds(deps);
  const app = createServer({
    ...config,
    bodyLimitBytes: 64 * 1024,
    newRequestId,
    log: silentLog,
    noteRequest: requests.note,
  });
  app.addHook('onRequest', async () => {
    await Promise.all(registering);
  });
  const routes: RouteOptions[] = [];
  app.addHook('onRoute', (route) => {
    // HEAD is routed like GET.
    if (route.method !== 'HEAD') routes.push(route);
  });
  await registerApi(
    app,
    { config, clock: systemClock },
    {
      services: [
        commands,
        createQueryService({ ...deps, index, directory, requests, recordOf: createRecordOf(store) }),
        webhooks,
        { registerRoutes: registerDocumentation },
        ...(hasConsole
          ? [
              {
                registerRoutes: (api: FastifyInstance) =>
                  registerConsole(api, {
                    ...deps,
                    credentials,
                    ...omitUndefined({ identityProvider, exportStalledMs, sandbox }),
                  }),
              },
            ]
          : []),
      ],
      notReady: () => [],
      degraded: () => [],
      metrics: createMetrics(deps),
      directory,
      sessionOf: (request) => sessionIdOf(credentials, request),
    },
  );
  await app.ready();
  onTestFinished(async () => {
    await app.close();
    requests.close();
    await deliveries.stop();
    await Promise.all([commands.stop(), directory.stop(), index.stop()]);
  });
  const bearerOf = (role: OperatorRole, person = 'ada') =>
    `Bearer ${issue({ person, source: 'command-line', grants: everywhere(role) }, 'api', 60_000)}`;
  return {
    app,
    store,
    credentials: { ...credentials, issue },
    bearerOf,
    askAs: (role, path, body) =>
      app.inject({
        method: body === undefined ? 'GET' : 'POST',
        url: `/api/v1/admin/${path}`,
        headers: {
          authorization: bearerOf(role),
          ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        },
        ...(body === undefined ? {} : { payload: body }),
      }),
    recorded,
    routes,
  };
}
