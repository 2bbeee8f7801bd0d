/**
 * The lists that a person has saved by name (stream `operator-views-<hash of the person>`, of which the last event is kept).
 * They are only addresses within the console: opening one shows what the role allows.
 */
import { createHash } from 'node:crypto';
import { type EventStore, readLast } from '@tollgate/event-store';
import { type Clock, type Ids, InvariantViolation } from '@tollgate/service-kit';
import { z } from 'zod';
import type { Operator } from './credentials.ts';

export const savedViewSchema = z.strictObject({
  name: z
    .string('must be a text')
    .trim()
    .min(1, 'must not be empty')
    .max(40, 'must be at most 40 characters'),
  /** The query of the list of payments, after the `?`. */
  query: z
    .string('must be a text')
    .max(1_000, 'must be at most 1,000 characters')
    .regex(/^[\w.~%=&+*[\]:-]*$/, 'must be the query string of a URL'),
});
type SavedView = z.infer<typeof savedViewSchema>;

export const savedViewsMax = 50;

type Person = Pick<Operator, 'person' | 'source'>;

const savedSchema = z.object({ views: z.array(z.object({ name: z.string(), query: z.string() })) });
const triesMax = 20;

const streamOf = ({ person, source }: Person): string =>
  `operator-views-${createHash('sha256')
    .update(JSON.stringify([source, person]))
    .digest('hex')
    .slice(0, 32)}`;

export function createSavedViews(deps: { store: EventStore; clock: Pick<Clock, 'now'>; ids: Ids }) {
  const { store, clock, ids } = deps;

  async function load(stream: string) {
    const last = await readLast(store, stream);
    if (last === undefined) return { revision: 'no-stream' as const, views: [] };
    return { revision: last.revision, views: savedSchema.parse(last.data).views };
  }

  async function change(person: Person, to: (views: readonly SavedView[]) => readonly SavedView[]) {
    const stream = streamOf(person);
    for (let tries = 0; tries < triesMax; tries += 1) {
      const { revision, views: before } = await load(stream);
      const views = to(before).toSorted((one, other) => (one.name < other.name ? -1 : 1));
      if (views.length > savedViewsMax) return undefined;
      const metadata = { schemaVersion: 1, recordedAt: clock.now() };
      const event = { id: ids.uuid(), type: 'OperatorViewsSaved', data: { views }, metadata };
      const appended = await store.append(stream, [event], revision, { keepLast: 1 });
      if (appended.kind !== 'conflict') return views;
    }
    throw new InvariantViolation('concurrent changes of the views of a person');
  }

  return {
    /** In the order of their names. */
    of: async (person: Person): Promise<readonly SavedView[]> => (await load(streamOf(person))).views,
    /** Replaces one of the same name. Undefined if the person has too many. @throws StoreUnavailable */
    save: (person: Person, view: SavedView): Promise<readonly SavedView[] | undefined> =>
      change(person, (views) => [...views.filter(isNot(view.name)), view]),
    /** Idempotent. @throws StoreUnavailable */
    remove: async (person: Person, name: string): Promise<readonly SavedView[]> =>
      (await change(person, (views) => views.filter(isNot(name)))) ?? [],
  };
}

const isNot =
  (name: string) =>
  (view: SavedView): boolean =>
    view.name !== name;
