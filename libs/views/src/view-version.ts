/**
 * Which views are read. All views that belong together are a view version: its streams have a prefix of their
 * own, and it holds views of just one set of schemas. Another version is built beside, and one append makes it live,
 * whether the schemas have changed or the views are to be made again. Code reads and writes the version of its own
 * schemas only, so that two releases may run side by side.
 */
import { readLast, type EventStore, type RecordedEvent, type Revision } from '@tollgate/event-store';
import { z } from 'zod';
import { viewSchemaVersions } from './view-kinds.ts';
import { firstViewVersion, type ViewVersion } from './view-streams.ts';

/** Which versions are live, and which are being built; only the last event is kept. */
export const viewVersionStream = 'view-version';
export const viewVersionEventType = 'ViewVersionChanged';

const viewVersionRecordSchema = z.object({
  schemaVersion: z.literal(1),
  /** At most one live version and one under construction for each set of schemas. */
  versions: z.array(
    z.object({ number: z.int().min(1), schemas: z.string(), state: z.enum(['live', 'building']) }),
  ),
  /** The highest number so far: none is reused, because removed streams cannot be appended to. */
  lastNumber: z.int().min(0),
});
export type ViewVersionRecord = z.infer<typeof viewVersionRecordSchema>;
type State = ViewVersionRecord['versions'][number]['state'];

export interface StoredViewVersion {
  record: ViewVersionRecord;
  /** Of the stream that the record is in. */
  revision: Revision | 'no-stream';
}

const isOwn = ({ schemas }: { schemas: string }): boolean => schemas === viewSchemaVersions;

const own = (number: ViewVersion, state: State) => ({ number, schemas: viewSchemaVersions, state });

/** As long as there are no views, the next ones are the first version. */
const firstRecord: ViewVersionRecord = {
  schemaVersion: 1,
  versions: [own(firstViewVersion, 'live')],
  lastNumber: firstViewVersion,
};

/** @throws StoreUnavailable; z.ZodError for a record that no version of ours has written */
export async function readViewVersion(store: Pick<EventStore, 'read'>): Promise<StoredViewVersion> {
  const last = await readLast(store, viewVersionStream);
  if (last === undefined) return { record: firstRecord, revision: 'no-stream' };
  return { record: toViewVersionRecord(last), revision: last.revision };
}

/** @throws z.ZodError for a record that no version of ours has written */
export const toViewVersionRecord = ({ data }: Pick<RecordedEvent, 'data'>): ViewVersionRecord =>
  viewVersionRecordSchema.parse(data);

const numberIn = ({ versions }: ViewVersionRecord, state: State): ViewVersion | undefined =>
  versions.find((version) => isOwn(version) && version.state === state)?.number;

/** The live version of our schemas; undefined while none is complete. */
export const liveIn = (record: ViewVersionRecord) => numberIn(record, 'live');

/** The version of our schemas that is being built; undefined if there is none. */
export const buildingIn = (record: ViewVersionRecord) => numberIn(record, 'building');

/** Versions of other releases are given up: what reads them builds its own again. */
export const withoutOtherReleases = (record: ViewVersionRecord): ViewVersionRecord => ({
  ...record,
  versions: record.versions.filter(isOwn),
});

/** Versions that no release reads any more; also one that was given up while it was being built. */
export const unreadIn = ({ versions, lastNumber }: ViewVersionRecord): ViewVersion[] =>
  Array.from({ length: lastNumber }, (_, index) => index + firstViewVersion).filter(
    (number) => !versions.some((version) => version.number === number),
  );

const others = ({ versions }: ViewVersionRecord, state: State) =>
  versions.filter((version) => !isOwn(version) || version.state !== state);

export function withBuilding(record: ViewVersionRecord): ViewVersionRecord {
  const lastNumber = record.lastNumber + 1;
  return { ...record, lastNumber, versions: [...others(record, 'building'), own(lastNumber, 'building')] };
}

/** What is being built is complete, and read from now on. */
export const withSwitched = (record: ViewVersionRecord): ViewVersionRecord => ({
  ...record,
  versions: others(record, 'live').map((version) =>
    isOwn(version) ? { ...version, state: 'live' } : version,
  ),
});

/** What is being built will never be read. */
export const withoutBuilding = (record: ViewVersionRecord): ViewVersionRecord => ({
  ...record,
  versions: others(record, 'building'),
});
