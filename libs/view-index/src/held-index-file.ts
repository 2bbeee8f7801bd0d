/** The open file of the index, which another one takes the place of where it is damaged, another store's or outdated. */
import { renameSync, statSync } from 'node:fs';
import { beginning, type EventStore, type Position } from '@tollgate/event-store';
import type { Log } from '@tollgate/service-kit';
import type { IndexFile, IndexProgress } from './index-file.ts';
import { deleteIndexFile, openIndexFile } from './open-index-file.ts';
import type { ViewVersion } from '@tollgate/views';

export interface HeldIndexFileOptions {
  /** Path of the SQLite file, or `:memory:`. */
  path: string;
  store: EventStore;
  log: Log;
}

export interface HeldIndexFile {
  file(): IndexFile | undefined;
  /** @throws StartupError where the file cannot be used */
  open(): void;
  close(): void;
  /** An empty one in the place of the one that is there. */
  rebuild(): IndexFile;
  /** The file, where it holds documents of this store and generation, and an empty one otherwise. @throws StoreUnavailable */
  fileOf(viewVersion: ViewVersion): Promise<IndexFile>;
  /** Opens the one that is built beside for a generation, as far as it has come. */
  openBeside(viewVersion: ViewVersion): IndexFile;
  /** Puts a file that was opened beside in the place of this one; closes both. */
  putInPlace(beside: IndexFile): void;
  /** What was begun for a generation that never became the live one. */
  deleteBeside(): void;
}

export function createHeldIndexFile({ path, store, log }: HeldIndexFileOptions): HeldIndexFile {
  const pathBeside = path === ':memory:' ? path : `${path}.next`;
  let file: IndexFile | undefined;

  function close(): void {
    file?.close();
    file = undefined;
  }

  function rebuild(): IndexFile {
    close();
    deleteIndexFile(path);
    file = openIndexFile(path, log);
    return file;
  }

  function openBeside(viewVersion: ViewVersion): IndexFile {
    const beside = openIndexFile(pathBeside, log);
    if (isOfViewVersion(beside.progress(), viewVersion)) return beside;
    beside.close();
    deleteIndexFile(pathBeside);
    return openIndexFile(pathBeside, log);
  }

  function putInPlace(beside: IndexFile): void {
    close();
    if (path === ':memory:') {
      file = beside;
      return;
    }
    beside.close();
    // Whoever crashes between these two finds the other one at the next start.
    deleteIndexFile(path);
    renameSync(pathBeside, path);
    file = openIndexFile(path, log);
  }

  /** A switch that came while this process was away, or in whose middle it ended: what was built beside is at hand. */
  function takeBeside(viewVersion: ViewVersion): IndexFile {
    const isThere = statSync(pathBeside, { throwIfNoEntry: false }) !== undefined;
    if (path === ':memory:' || !isThere) return rebuild();
    putInPlace(openBeside(viewVersion));
    return file ?? rebuild();
  }

  return {
    file: () => file,
    open: () => {
      file = openIndexFile(path, log);
    },
    close,
    rebuild,
    fileOf: async (viewVersion) => {
      if (file === undefined) return rebuild();
      if (!(await isOfStore(store, file.progress()))) {
        log.warn(
          { operation: 'follow-documents' },
          'the index belongs to another event store; it is built again',
        );
        deleteIndexFile(pathBeside);
        return rebuild();
      }
      const { viewVersion: of } = file.progress();
      return of === viewVersion || (of === undefined && viewVersion === 1) ? file : takeBeside(viewVersion);
    },
    openBeside,
    putInPlace,
    deleteBeside: () => deleteIndexFile(pathBeside),
  };
}

const isOfViewVersion = ({ viewVersion }: IndexProgress, wanted: ViewVersion): boolean =>
  viewVersion === undefined || viewVersion === wanted;

/**
 * True where the store has the event that the last document was taken from, and has come as far as the file: one that was
 * restored from a backup has forgotten what came after that, and other events are in the place of it. An empty index fits
 * every store.
 */
async function isOfStore(
  store: EventStore,
  { witness, followed, followedIn }: IndexProgress,
): Promise<boolean> {
  if (witness === undefined) return true;
  const { stream, revision, position } = witness;
  let isThere = false;
  for await (const event of store.read(stream, { from: revision, limit: 1 }))
    isThere = event.revision === revision && event.position === position;
  return isThere && followedIn !== undefined && (await endOf(store, followedIn)) >= followed;
}

async function endOf(store: EventStore, stream: string): Promise<Position> {
  for await (const { position } of store.read(stream, { direction: 'backwards', limit: 1 })) return position;
  return beginning;
}
