import { createRecordOf } from '@tollgate/topics';
import { createQueryService } from '@tollgate/query-service';
import { openRequestLedger } from '@tollgate/requests';
import { registerRequestRecords } from '../../edge/requests/request-records.ts';
import { ownHost } from '../lease-holder.ts';
import { reportToOthers } from '../share-requests.ts';
import { watchIndex } from '../metrics/watch-services.ts';
import type { Parts } from '../parts.ts';
import type { RunningService } from '../../edge/running-service.ts';

/** Needs the event store, the directory of teams and its own index. */
export async function startQueryService(parts: Parts): Promise<RunningService> {
  const { config, clock, logOf, metrics, dataDirectory, stops, underWay } = parts;
  const log = logOf('query-service');
  const [store, directory, index] = await Promise.all([parts.store(), parts.teams(), parts.index()]);
  const { recordExport } = (await parts.security()).security;
  const requests = openRequestLedger({ file: dataDirectory.requestsFile, ...config.requests, clock, log });
  stops.defer(() => requests.close());
  const recordOf = createRecordOf(store);
  const instance = config.instance ?? ownHost();
  const reading = { store, index, directory, requests, recordExport, recordOf };
  const queries = createQueryService({ ...reading, underWay, clock, log, instance });
  const report = await reportToOthers(parts);
  watchIndex(metrics, { store, clock, index });
  return {
    registerRoutes: (app) => queries.registerRoutes(app),
    registerInternalRoutes: (app) => registerRequestRecords(app, requests.note),
    noteRequest(record) {
      requests.note(record);
      report(record);
    },
    building: () => index.building(),
  };
}
