import { expect, it } from 'vitest';
import { type Cost, costOfRead } from './expensive-reads.ts';
import { errorsOf } from './route-errors.ts';
import { type Route, routes } from './routes.ts';

it.each<[Route, Record<string, string>, Cost]>([
  [routes.listPayments, {}, 'cheap'],
  [routes.listPayments, { perPage: '100' }, 'cheap'],
  [routes.listPayments, { perPage: '101' }, 'expensive'],
  [routes.listPayments, { perPage: '500' }, 'expensive'],
  [routes.listPayments, { 'metadata[order]': '1' }, 'expensive'],
  [routes.exportPayments, {}, 'expensive'],
  [routes.listPaymentsOfAll, {}, 'expensive'],
  [routes.listSecurityLog, {}, 'expensive'],
  [routes.listEvents, {}, 'expensive'],
  [routes.listEvents, { wait: '0' }, 'expensive'],
  [routes.listEvents, { wait: '20' }, 'waiting'],
  [routes.retrievePayment, { perPage: '500' }, 'cheap'],
])('$0.url with $1 is $2', (route, query, cost) => {
  expect(costOfRead(route, query)).toBe(cost);
});

it('each route that may be expensive states that it may refuse', () => {
  for (const route of Object.values<Route>(routes)) {
    const isStated = Object.values(errorsOf(route)).flat().includes('too_many_reads');
    const isPaged = 'perPage' in (route.query?.shape ?? {});
    expect(isStated, route.url).toBe(isPaged || route.isExpensive === true);
  }
});
