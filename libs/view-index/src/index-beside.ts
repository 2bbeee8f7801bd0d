/** Builds a second file of the index for the generation that is, or soon will be, the live one. */
import { beginning, type EventStore, type Position } from '@tollgate/event-store';
import type { Clock, Log } from '@tollgate/service-kit';
import { followViews } from './follow-views.ts';
import type { HeldIndexFile } from './held-index-file.ts';
import type { IndexFile, IndexProgress } from './index-file.ts';
import { isDamage } from './open-index-file.ts';
import type { ViewVersion, ViewVersionRecord } from '@tollgate/views';

const retryPauseMs = 500;

export interface IndexBeside {
  /** Builds what a record asks for, where `followed` is what the first file has. */
  turnTo(record: ViewVersionRecord, followed: ViewVersion): void;
  /** The second file never takes the place of a first one that has come further. */
  mustReach(source: Position): void;
  /** Ends the building; where the file is ready, it is the one that is held then. */
  end(): Promise<void>;
}

export interface IndexBesideOptions {
  held: HeldIndexFile;
  store: EventStore;
  log: Log;
  clock: Clock;
  /** The file has all documents of the generation that is live now. */
  onReady: () => void;
}

interface Building {
  viewVersion: ViewVersion;
  stopping: AbortController;
}

export function createIndexBeside({ held, store, log, clock, onReady }: IndexBesideOptions): IndexBeside {
  let building: Building | undefined;
  let isBegun = false;
  let running = Promise.resolve();
  let file: IndexFile | undefined;
  let isSwitched = false;
  let caughtUpTo: Position | undefined;
  let least = beginning;
  let isReady = false;

  function turnTo(record: ViewVersionRecord, followed: ViewVersion): void {
    isSwitched = record.live !== followed;
    const wanted = isSwitched ? record.live : record.building;
    if (!isBegun || wanted !== building?.viewVersion) begin(wanted);
    tellIfReady();
  }

  function begin(viewVersion: ViewVersion | undefined): void {
    isBegun = true;
    building?.stopping.abort();
    const next = viewVersion === undefined ? undefined : { viewVersion, stopping: new AbortController() };
    building = next;
    running = running.then(async () => {
      close();
      if (next === undefined) held.deleteBeside();
      else await build(next);
    });
  }

  async function build({ viewVersion, stopping: { signal } }: Building): Promise<void> {
    while (!signal.aborted) {
      try {
        file ??= held.openBeside(viewVersion);
        await followViews({ store, log, file, viewVersion, signal, onProgress });
      } catch (error) {
        const fields = { error, viewVersion, operation: 'follow-documents' };
        log.error(fields, 'the index that is built beside fell behind; it tries again');
        close();
        if (isDamage(error)) held.deleteBeside();
        await clock.sleep(retryPauseMs, signal).catch(() => undefined);
      }
    }
  }

  function onProgress({ source }: IndexProgress, isCaughtUp: boolean): void {
    caughtUpTo = isCaughtUp ? source : undefined;
    tellIfReady();
  }

  function tellIfReady(): void {
    if (!isSwitched || isReady || caughtUpTo === undefined || caughtUpTo < least) return;
    isReady = true;
    onReady();
  }

  function close(): void {
    caughtUpTo = undefined;
    file?.close();
    file = undefined;
  }

  return {
    turnTo,
    mustReach: (source) => {
      least = source;
    },
    end: async () => {
      building?.stopping.abort();
      await running;
      if (isReady && file !== undefined) held.putInPlace(file);
      else close();
    },
  };
}
