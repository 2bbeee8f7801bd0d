/** Routes of stored requests. */
import { requestListSchema } from './queries.ts';
import { get, onePage } from './route-parts.ts';
import type { Route } from './routes.ts';

export const requestRoutes = {
  listRequests: {
    ...get('query-service', 'Requests', '/api/v1/requests'),
    summary: 'Lists the requests of your team of the last 30 days, latest first',
    description:
      'Requests of all keys of your team in the environment of this key, without bodies. A request is listed within a second of its answer. Records may be lost if a process is killed, and the oldest are deleted if there are too many.',
    scopes: ['read'],
    query: requestListSchema,
    answers: onePage('RequestList'),
  },
  retrieveRequest: {
    ...get('query-service', 'Requests', '/api/v1/requests/:id'),
    summary: 'Shows a request, by the `Request-Id` of its answer',
    scopes: ['read'],
    answers: { 200: { meaning: 'The request.', schema: 'RequestAnswer' } },
    errors: ['request_not_found'],
  },
} satisfies Record<string, Route>;
