import { routesOf } from '@tollgate/gateway-api/http';
import { expect, it } from 'vitest';
import { routedServices } from '../../configuration/service-names.ts';
import { startApi } from '../testing/api.ts';

// A route that a service registers and does not state would be there in one way of running and missing in the other.
it('forwards every call of the API that services answer, and nothing else', async () => {
  const { routes } = await startApi();
  const toCall = ({ method, url }: { method: string | string[]; url: string }) => `${String(method)} ${url}`;
  const answered = routes.filter(({ url }) => url.startsWith('/api/')).map(toCall);
  expect(routedServices.flatMap(routesOf).map(toCall).toSorted()).toEqual(answered.toSorted());
});
