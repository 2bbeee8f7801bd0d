/** Composes the Payment Service: the database, the two servers, and the background work. */
import { join } from 'node:path';
import {
  StartupError,
  errorCode,
  listen,
  type Clock,
  type Ids,
  type Log,
  makeFolder,
  requireFreePorts,
} from '@tollgate/service-kit';
import type { FastifyInstance } from 'fastify';
import { registerApiRoutes } from './api-routes.ts';
import { createCallbackDelivery, createPostJson } from './callbacks.ts';
import { ensureServerCertificate, type ServerCertificate } from './certificates.ts';
import { checkoutPath, registerCheckout } from './checkout/routes.ts';
import { type PaymentServiceConfig, sandboxAddresses } from './config.ts';
import { createDueLoop } from './due-loop.ts';
import { createFaults } from './faults.ts';
import { createAuthenticate, registerMerchant, type Registration } from './keys.ts';
import { createMoneyMovements } from './money-movements.ts';
import { customerStep, type Payment } from './payments.ts';
import { createSandboxClock } from './sandbox-clock.ts';
import { registerSandboxRoutes } from './sandbox-routes.ts';
import { createHttpsServer, createPlainHttpServer, drain, registerBehindKey } from './servers.ts';
import { openDatabase, type Database } from './storage/database.ts';
import { createMerchantsTable } from './storage/merchants-table.ts';
import { createTables } from './storage/tables.ts';

export interface PaymentServiceDeps {
  config: PaymentServiceConfig;
  clock: Clock;
  ids: Ids;
  log: Log;
  /** Time from the approval of a payment until its money can be paid out, by the service's clock. @default one day */
  settlementDelayMs?: number;
}

export type PaymentService = Awaited<ReturnType<typeof startPaymentService>>;

const certificateFolder = 'payment-service-tls';
const defaultSettlementDelayMs = 24 * 60 * 60_000;

/** @throws StartupError if a port is taken, or another process uses the data folder. */
export async function startPaymentService(deps: PaymentServiceDeps) {
  const { config, clock, log } = deps;
  const { hostNames = [] } = config;
  makeDataDir(config.dataDir);
  const certificates = join(config.dataDir, certificateFolder);
  const certificate = await ensureServerCertificate(certificates, clock.now(), hostNames);
  await using stops = new AsyncDisposableStack();
  const file = join(config.dataDir, 'payment-service.db');
  const database = stops.adopt(openDatabase(file), (opened) => opened.close());
  const core = createCore(deps, database, certificate);
  stops.defer(() => core.end());
  const https = createHttpsServer(certificate, log);
  const http = createPlainHttpServer();
  stops.defer(() => drain([https, http], clock));
  registerRoutes(https, core);
  const addresses = await listenOnBoth({ https, http }, config, certificate.caFile);
  core.begin(addresses.httpsUrl);
  log.info(
    { url: addresses.httpsUrl, port: Number(new URL(addresses.httpUrl).port) },
    'Payment Service listens',
  );
  const started = stops.move();
  return {
    addresses,
    /**
     * Registers a merchant with a sandbox key, the given one or a new one; repeating it with the same key changes
     * nothing.
     */
    ensureMerchant: async (registration: Registration) =>
      database.write(() => core.addMerchant(registration)),
    /** Waits up to five seconds for requests in progress, then closes everything. Due callbacks stay due. */
    stop: (): Promise<void> => started.disposeAsync(),
  };
}

function makeDataDir(dataDir: string): void {
  try {
    makeFolder(dataDir);
  } catch (cause) {
    const reason = errorCode(cause) ?? 'unknown';
    throw new StartupError(
      'data_dir_unusable',
      `The folder ${dataDir} cannot be made (${reason}). Set TOLLGATE_DATA_DIR to another one and start again.`,
      { cause },
    );
  }
}

type Core = ReturnType<typeof createCore>;

/** The components between the servers and the database. */
function createCore(
  { clock, ids, log, settlementDelayMs = defaultSettlementDelayMs }: PaymentServiceDeps,
  database: Database,
  certificate: ServerCertificate,
) {
  const { connection } = database;
  const merchants = createMerchantsTable(connection);
  const tables = createTables(connection);
  const faults = createFaults();
  const time = createSandboxClock(clock, database);
  const { now } = time;
  const client = createPostJson(certificate.ca);
  const { postJson } = client;
  const delivery = createCallbackDelivery({ ...tables, database, now, clock, postJson, log });
  // Settlements and expiries are further away than the loop's longest pause.
  const onChange = delivery.wake;
  const money = createMoneyMovements({ database, tables, faults, now, ids, settlementDelayMs, onChange });
  const due = createDueLoop({ name: 'due', now, clock, log, work: () => database.write(money.doDue) });
  const draining = new AbortController();
  const ending = new AbortController();
  let loops: Promise<unknown> = Promise.resolve();
  let baseUrl = '';

  const advanceClock = (byMs: number): number => {
    time.advance(byMs);
    while ((money.doDue() ?? Number.POSITIVE_INFINITY) <= now());
    due.wake();
    delivery.wake();
    return now();
  };
  return {
    database,
    merchants,
    faults,
    now,
    clock,
    log,
    delivery,
    advanceClock,
    ...tables,
    ...money,
    stopping: draining.signal,
    processingUrl: (payment: Payment) => processingUrlOf(payment, baseUrl),
    addMerchant: (registration: Registration) => registerMerchant({ merchants, ids, now }, registration),
    begin: (url: string): void => {
      baseUrl = url;
      loops = Promise.all([delivery.run(ending.signal), due.run(ending.signal)]);
    },
    /** From here on, slow replies are sent at once. */
    hurry: () => draining.abort(),
    end: async (): Promise<void> => {
      ending.abort();
      await loops;
      await client.close();
    },
  };
}

/** The page on which the customer continues, if the payment needs the customer. */
function processingUrlOf(payment: Payment, baseUrl: string): string | undefined {
  const path = `${baseUrl}${checkoutPath(payment.token)}`;
  const urls = { card: path, authentication: `${path}/authentication`, none: undefined };
  return urls[customerStep(payment)];
}

function registerRoutes(https: FastifyInstance, core: Core): void {
  registerBehindKey(https, createAuthenticate(core.merchants), (scope, merchantOf) => {
    registerApiRoutes(scope, { ...core, merchantOf });
    registerSandboxRoutes(scope, { ...core, merchantOf });
  });
  registerCheckout(https, { ...core, find: core.payments.find });
  https.addHook('preClose', async () => core.hurry());
}

async function listenOnBoth(
  apps: { https: FastifyInstance; http: FastifyInstance },
  config: PaymentServiceConfig,
  caFile: string,
) {
  const { http, https } = sandboxAddresses(config);
  await requireFreePorts([https, http]);
  const plain = await listen(apps.http, http);
  const secure = await listen(apps.https, https);
  const name = hostInUrl(config.host);
  /** The HTTP server rejects everything. Clients must trust the authority in the PEM file. */
  return { httpsUrl: `https://${name}:${secure}`, httpUrl: `http://${name}:${plain}`, caFile };
}

const hostInUrl = (host: string): string => {
  if (host === '0.0.0.0' || host === '::') return 'localhost';
  return host.includes(':') ? `[${host}]` : host;
};
