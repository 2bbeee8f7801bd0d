/** The events of a team for those without Kafka. */
import { eventFeedSchema } from './queries.ts';
import { get } from './route-parts.ts';
import type { Route } from './routes.ts';

export const feedRoutes = {
  listEvents: {
    ...get('query-service', 'Events', '/api/v1/events'),
    summary: 'Lists the events of your team, as on the topics',
    description: `The records of \`gateway.payments.v1\`, \`gateway.payouts.v1\` and \`gateway.disputes.v1\` of your team and of the environment of this key, from the first event on. Events do not expire. The records of one payment, payout or dispute are in order, without a gap. Store the \`cursor\` after you have processed a page, and send it with the next request. If you lose it, records repeat. After the operators have restored a backup, start without a cursor: an old cursor may skip events.

With \`wait\`, the request waits for the next event (long poll). A key may have ten waiting requests, with at most 100 records in each answer.`,
    scopes: ['read'],
    query: eventFeedSchema,
    isExpensive: true,
    answers: {
      200: { meaning: 'The next records, oldest first. Empty if none arrived in time.', schema: 'EventFeed' },
    },
    errors: ['too_many_waits'],
  },
} satisfies Record<string, Route>;
