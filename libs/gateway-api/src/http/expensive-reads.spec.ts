import { expect, it } from 'vitest';
import { isExpensiveRead } from './expensive-reads.ts';
import { type Route, errorsOf, routes } from './routes.ts';

it.each<[Route, Record<string, string>, string | undefined, boolean]>([
  [routes.listPayments, {}, undefined, false],
  [routes.listPayments, { perPage: '100' }, undefined, false],
  [routes.listPayments, { perPage: '101' }, undefined, true],
  [routes.listPayments, { perPage: '500' }, 'text/event-stream', true],
  [routes.listPayments, { 'metadata[order]': '1' }, undefined, true],
  [routes.exportPayments, {}, undefined, true],
  [routes.listPaymentsOfAll, {}, undefined, true],
  [routes.listSecurityLog, {}, undefined, true],
  [routes.listEvents, {}, undefined, true],
  [routes.listEvents, { wait: '0' }, undefined, true],
  [routes.listEvents, { wait: '20' }, undefined, false],
  [routes.listEvents, {}, 'text/event-stream', false],
  [routes.retrievePayment, { perPage: '500' }, undefined, false],
])('$0.url with $1 and Accept $2 is expensive: $3', (route, query, accept, isExpensive) => {
  expect(isExpensiveRead(route, { query, accept })).toBe(isExpensive);
});

it('each route that may be expensive states that it may refuse', () => {
  for (const route of Object.values<Route>(routes)) {
    const isStated = Object.values(errorsOf(route)).flat().includes('too_many_reads');
    const isPaged = 'perPage' in (route.query?.shape ?? {});
    expect(isStated, route.url).toBe(isPaged || route.isExpensive === true);
  }
});
