/** What became of the requests that a team has sent. */
import { requestListSchema } from './queries.ts';
import { get } from './route-parts.ts';
import type { Route } from './routes.ts';

export const requestRoutes = {
  listRequests: {
    ...get('query-service', 'Requests', '/api/v1/requests'),
    summary: 'Lists the requests of your team of the last 30 days, latest first',
    description:
      'What was asked with any key of your team and of the environment of this key, without bodies. A request is listed within a second of its answer. It is kept for the convenience of people and may be forgotten before its time: by a process that is killed, or where there are very many.',
    scopes: ['read'],
    query: requestListSchema,
    answers: {
      200: {
        meaning: 'One page; it may be shorter than `perPage` while `nextCursor` is present.',
        schema: 'RequestList',
      },
    },
    errors: ['invalid_param'],
  },
  retrieveRequest: {
    ...get('query-service', 'Requests', '/api/v1/requests/:id'),
    summary: 'Shows what became of a request, by the `Request-Id` of its answer',
    scopes: ['read'],
    answers: { 200: { meaning: 'The request.', schema: 'RequestAnswer' } },
    errors: ['request_not_found'],
  },
} satisfies Record<string, Route>;
