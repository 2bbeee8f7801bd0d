/** Which reads cost much more than others: the edge limits how many of one caller run at the same time. */
import type { Route } from './routes.ts';

/** Entries of a page above which every list is expensive. */
const cheapPageMax = 100;

type Stated = Pick<Route, 'query' | 'isExpensive'>;

/** True if some request of the route is expensive. */
export const mayBeExpensive = ({ query, isExpensive }: Stated): boolean =>
  isExpensive === true || ['perPage', 'metadata'].some((name) => name in (query?.shape ?? {}));

/** A reader that waits for events uses another kind of place, and small pages. */
export type Cost = 'cheap' | 'expensive' | 'waiting';

/** `query` has the parameters after the `?`, as sent. */
export function costOfRead(route: Stated, query: Readonly<Record<string, unknown>>): Cost {
  const mayWait = 'wait' in (route.query?.shape ?? {});
  if (mayWait && Number(query['wait']) > 0) return 'waiting';
  const isExpensive =
    route.isExpensive === true ||
    (mayBeExpensive(route) &&
      (Number(query['perPage']) > cheapPageMax ||
        Object.keys(query).some((name) => name.startsWith('metadata'))));
  return isExpensive ? 'expensive' : 'cheap';
}
