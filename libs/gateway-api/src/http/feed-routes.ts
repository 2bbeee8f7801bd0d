/** The events of a team for those without Kafka. */
import { eventFeedSchema } from './queries.ts';
import { get, ofCommands } from './route-parts.ts';
import type { Route } from './routes.ts';

export const feedRoutes = {
  listEvents: {
    ...get('query-service', 'Events', '/api/v1/events'),
    summary: 'Gives the events of your team, as they are on the topics',
    description: `The records of \`gateway.payments.v1\`, \`gateway.payouts.v1\` and \`gateway.disputes.v1\` that are about your team and the environment of this key, from the first event on: nothing is let go of. Those of one payment, payout or dispute are in their order, without a gap. Keep the \`cursor\` of what you have handled, and send it as \`cursor\`; a record may come a second time where you lose it. When the operators have restored the store from a backup, begin without one: a cursor of before would lead past what was recorded since.

With \`wait\`, the answer waits for the next event where there is none yet. With \`Accept: text/event-stream\` the records come as server-sent events whose \`id\` is the cursor, so that a client goes on by \`Last-Event-ID\`; every ten seconds there is a sign of life, and after five minutes the stream ends and is asked for again. Each waiting request takes a place; a key has ten, and the answer has at most 100 records.`,
    scopes: ['read'],
    query: eventFeedSchema,
    isExpensive: true,
    answers: {
      200: {
        meaning: 'The next records, oldest first; none where nothing has come in time.',
        schema: 'EventFeed',
      },
    },
    errors: ['invalid_param', 'too_many_waits', ...ofCommands],
  },
} satisfies Record<string, Route>;
