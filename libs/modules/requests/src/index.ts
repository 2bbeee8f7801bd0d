export { openRequestLedger, type RequestLedger } from './request-ledger.ts';
export { recordsPerMessageMax, type RequestRecord, requestRecordsSchema } from './request-record.ts';
export { registerRequestRoutes, toPublicRequest } from './request-routes.ts';
