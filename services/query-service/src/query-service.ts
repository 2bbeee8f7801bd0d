/** The read side of the gateway's API. */
import type { EventStore } from '@tollgate/event-store';
import { type PaymentIndex, type RecordOf, registerFeedRoutes } from '@tollgate/lists';
import type { SecurityWatch, TeamDirectory } from '@tollgate/teams';
import { type Clock, type Log, type UnderWay, createUnderWay, createReadShare } from '@tollgate/service-kit';
import { createRecentViews } from '@tollgate/views';
import type { FastifyInstance } from 'fastify';
import { createPositionWaits } from '@tollgate/gateway-api/http';
import { registerOverviewRoutes } from './overview-routes.ts';
import { registerCredentialRoutes } from './credential-routes.ts';
import { registerLedgerRoutes } from './ledger-routes.ts';
import { registerOperatorRoutes } from './operator-routes.ts';
import { createExports } from './csv-exports.ts';
import { registerHistoryRoutes } from './history-routes.ts';
import { createListRoutes } from './list-routes.ts';
import { registerPaymentRoutes } from './payment-routes.ts';
import { registerPayoutRoutes } from './payout-routes.ts';
import { registerDisputeRoutes } from './dispute-routes.ts';
import { registerRefundRoutes } from './refund-routes.ts';
import { registerReconciliationRoutes } from './reconciliation-routes.ts';
import { type RequestLedger, registerRequestRoutes } from '@tollgate/requests';
import { registerReviewRoutes } from './review-routes.ts';
import { registerTotalsRoutes } from './totals-routes.ts';

export interface QueryServiceOptions {
  store: EventStore;
  /** Started and stopped by its creator. */
  index: PaymentIndex;
  /** Started and stopped by its creator. */
  directory: TeamDirectory;
  /** Opened and closed by its creator. */
  requests: Pick<RequestLedger, 'find' | 'list' | 'creations'>;
  /** The publisher's mapping of an event to its record. */
  recordOf: RecordOf;
  /** Called before an export is sent; the export waits until it has resolved. */
  recordExport?: SecurityWatch['recordExport'];
  /** Disconnects a client that reads nothing of its export for this long. @default 30,000 @unit milliseconds */
  exportStalledMs?: number;
  /** Other requests of this process, which long reads yield to; none by default. */
  underWay?: Pick<UnderWay, 'isBusy'>;
  /** Identifies this process among several. */
  instance?: string;
  log: Log;
  clock: Clock;
}

export function createQueryService(options: QueryServiceOptions) {
  const { store, index, directory, requests, recordOf, log, clock, recordExport = async () => {} } = options;
  const { exportStalledMs = 30_000, underWay = createUnderWay(), instance = 'asked' } = options;
  const share = createReadShare(clock, underWay);
  const waits = createPositionWaits(index);
  const recent = createRecentViews(clock);
  const deps = { store, index, recent, directory, log, clock, share, waits };
  return {
    /** Adds the GET routes to a server that answers in JSON only. */
    registerRoutes: (app: FastifyInstance): void => {
      const addExport = createExports(app, deps, { stalledMs: exportStalledMs, recordExport });
      const lists = createListRoutes(app, deps, addExport);
      registerPaymentRoutes(app, deps, lists);
      registerRefundRoutes(app, deps, lists);
      registerDisputeRoutes(app, deps, lists);
      registerLedgerRoutes(app, deps, lists);
      registerPayoutRoutes(app, deps, lists);
      registerHistoryRoutes(app, deps);
      registerReviewRoutes(app, deps, lists);
      registerTotalsRoutes(app, deps);
      registerReconciliationRoutes(app, deps);
      registerRequestRoutes(app, { ...deps, instance }, requests);
      registerFeedRoutes(app, { ...deps, recordOf });
      registerOperatorRoutes(app, { ...deps, requests }, lists);
      registerOverviewRoutes(app, { ...deps, requests });
      registerCredentialRoutes(app, deps);
    },
  };
}
