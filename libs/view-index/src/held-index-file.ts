/** The open file of the index. A new one replaces it if it is damaged, outdated or another store's. */
import { renameSync, statSync } from 'node:fs';
import { readLast, type EventStore } from '@tollgate/event-store';
import type { Log } from '@tollgate/service-kit';
import type { IndexFile, IndexFileOptions, IndexProgress } from './index-file.ts';
import { deleteIndexFile, openIndexFile } from './open-index-file.ts';
import type { ViewVersion } from '@tollgate/views';

export interface HeldIndexFileOptions extends IndexFileOptions {
  /** Path of the SQLite file, or `:memory:`. */
  path: string;
  store: EventStore;
  log: Log;
}

export interface HeldIndexFile {
  file(): IndexFile | undefined;
  /** @throws StartupError if the file cannot be used */
  open(): IndexFile;
  close(): void;
  /** An empty one in the place of the one that is there. */
  rebuild(): IndexFile;
  /**
   * The file, if it has views of this store and view version, or else an empty one.
   *
   * @param isCurrent the views of another version may have been removed from the store already
   * @throws StoreUnavailable
   */
  fileOf(viewVersion: ViewVersion, isCurrent: boolean): Promise<IndexFile>;
  /** Opens the file that is built beside it for another view version, with its progress; the same one while it is open. */
  openBeside(viewVersion: ViewVersion): IndexFile;
  /** Closes it; one that is ready takes the place of the file. */
  endBeside(ready: IndexFile | undefined): void;
  /** What was begun for a view version that never became the live one, or is damaged. */
  deleteBeside(): void;
}

export function createHeldIndexFile({ path, store, log, dueAt, scope }: HeldIndexFileOptions): HeldIndexFile {
  const options = { dueAt, scope };
  const pathBeside = path === ':memory:' ? path : `${path}.next`;
  let file: IndexFile | undefined;
  let beside: IndexFile | undefined;

  function close(): void {
    file?.close();
    file = undefined;
  }

  const open = (): IndexFile => (file = openIndexFile(path, log, options));

  function rebuild(): IndexFile {
    close();
    deleteIndexFile(path);
    return open();
  }

  function openBeside(viewVersion: ViewVersion): IndexFile {
    beside ??= openIndexFile(pathBeside, log, options);
    if (!isOfViewVersion(beside.progress(), viewVersion)) {
      deleteBeside();
      beside = openIndexFile(pathBeside, log, options);
    }
    return beside;
  }

  function deleteBeside(): void {
    endBeside(undefined);
    deleteIndexFile(pathBeside);
  }

  function endBeside(ready: IndexFile | undefined): void {
    if (ready !== undefined && ready === beside) putInPlace(ready);
    else beside?.close();
    beside = undefined;
  }

  function putInPlace(ready: IndexFile): void {
    close();
    if (path === ':memory:') {
      file = ready;
      return;
    }
    ready.close();
    // After a crash between these two steps, the next start finds the other file.
    deleteIndexFile(path);
    renameSync(pathBeside, path);
    open();
  }

  /** After a switch during which this process was stopped, the file that was built beside it is ready. */
  function takeBeside(viewVersion: ViewVersion): IndexFile | undefined {
    const isThere = statSync(pathBeside, { throwIfNoEntry: false }) !== undefined;
    if (path === ':memory:' || !isThere) return undefined;
    beside = openIndexFile(pathBeside, log, options);
    const isWanted = beside.progress().viewVersion === viewVersion;
    endBeside(isWanted ? beside : undefined);
    return isWanted ? file : undefined;
  }

  return {
    file: () => file,
    ...{ open, close, rebuild, openBeside, endBeside, deleteBeside },
    fileOf: async (viewVersion, isCurrent) => {
      if (file === undefined) return rebuild();
      const { viewVersion: of } = file.progress();
      const fitting =
        of === viewVersion ? file : (takeBeside(viewVersion) ?? (of === undefined ? file : undefined));
      if (fitting === undefined) return rebuild();
      if (await isOfStore(store, fitting.progress(), isCurrent)) return fitting;
      log.warn({ operation: 'open-index' }, 'the index belongs to another event store; it is rebuilt');
      deleteBeside();
      return rebuild();
    },
  };
}

/** An empty one fits every version. */
const isOfViewVersion = ({ viewVersion }: IndexProgress, wanted: ViewVersion): boolean =>
  viewVersion === undefined || viewVersion === wanted;

/**
 * True where the store has the event that the last view was taken from, and has come as far as the file: one that was
 * restored from a backup has forgotten what came after that, and other events are in the place of it. An empty index fits
 * every store.
 */
async function isOfStore(
  store: EventStore,
  { witness, followed, followedIn }: IndexProgress,
  isCurrent: boolean,
): Promise<boolean> {
  if (witness === undefined) return true;
  const { stream, revision, position } = witness;
  let isThere = false;
  for await (const event of store.read(stream, { from: revision, limit: 1 }))
    isThere = event.revision === revision && event.position === position;
  if (!isThere || followedIn === undefined) return false;
  const last = await readLast(store, followedIn);
  return last === undefined ? !isCurrent : last.position >= followed;
}
