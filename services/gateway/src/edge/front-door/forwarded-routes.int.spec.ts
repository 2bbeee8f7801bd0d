import { expect, it } from 'vitest';
import { startApi } from '../testing/api.ts';
import { forwardedRoutes } from './forwarded-routes.ts';

// A route that a service gains and this table does not would be there in one way of running and missing in the other.
it('forwards every call of the API that services answer, and nothing else', async () => {
  const { routes } = await startApi();
  const answered = routes.flatMap(({ method, url }) =>
    url.startsWith('/api/') ? [`${String(method)} ${url}`] : [],
  );
  const forwarded = Object.values(forwardedRoutes).flatMap((ofService) =>
    ofService.map(({ method, path }) => `${method} ${path}`),
  );
  expect(forwarded.toSorted()).toEqual(answered.toSorted());
});
