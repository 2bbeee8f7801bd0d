import { expect, it } from 'vitest';
import { type Cost, costOfRead } from './expensive-reads.ts';
import { errorsOf } from './route-errors.ts';
import { type Route, routes } from './routes.ts';

it.each<[Route, Record<string, string>, string | undefined, Cost]>([
  [routes.listPayments, {}, undefined, 'cheap'],
  [routes.listPayments, { perPage: '100' }, undefined, 'cheap'],
  [routes.listPayments, { perPage: '101' }, undefined, 'expensive'],
  [routes.listPayments, { perPage: '500' }, 'text/event-stream', 'expensive'],
  [routes.listPayments, { 'metadata[order]': '1' }, undefined, 'expensive'],
  [routes.exportPayments, {}, undefined, 'expensive'],
  [routes.listPaymentsOfAll, {}, undefined, 'expensive'],
  [routes.listSecurityLog, {}, undefined, 'expensive'],
  [routes.listEvents, {}, undefined, 'expensive'],
  [routes.listEvents, { wait: '0' }, undefined, 'expensive'],
  [routes.listEvents, { wait: '20' }, undefined, 'waiting'],
  [routes.listEvents, {}, 'text/event-stream', 'waiting'],
  [routes.retrievePayment, { perPage: '500' }, undefined, 'cheap'],
])('$0.url with $1 and Accept $2 is $3', (route, query, accept, cost) => {
  expect(costOfRead(route, { query, accept })).toBe(cost);
});

it('each route that may be expensive states that it may refuse', () => {
  for (const route of Object.values<Route>(routes)) {
    const isStated = Object.values(errorsOf(route)).flat().includes('too_many_reads');
    const isPaged = 'perPage' in (route.query?.shape ?? {});
    expect(isStated, route.url).toBe(isPaged || route.isExpensive === true);
  }
});
