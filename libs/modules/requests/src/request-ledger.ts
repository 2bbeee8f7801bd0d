/**
 * The requests of the last days with their outcomes, for the team that sent them. Written in batches after the answers: no
 * request waits for it, and a killed process loses the last moment.
 */
import { openLocalFile } from '@tollgate/event-store';
import { type Clock, type Log, requestIdFrom } from '@tollgate/service-kit';
import { createCreationPulse } from './creation-pulse.ts';
import type { RequestRecord } from './request-record.ts';
import {
  type RequestFilter,
  type RequestOwner,
  type RequestPage,
  createRequestRows,
  requestSchema,
} from './request-rows.ts';

export type RequestLedger = ReturnType<typeof openRequestLedger>;

export interface RequestLedgerOptions {
  /** Path of the SQLite file, or `:memory:`. */
  file: string;
  keptMs: number;
  /** Maximum per team and environment; the oldest are deleted. */
  perTeamMax: number;
  clock: Pick<Clock, 'now' | 'after'>;
  log: Log;
}

/** Maximum wait of a record for others in its batch. */
const writeAfterMs = 200;
/** Maximum waiting records; more wait only if writing fails, and are dropped. */
const waitingMax = 10_000;
/** "TgRq" */
const applicationId = 0x54675271;
const trimEveryMs = 3_600_000;

/** @throws StartupError if the file belongs to another program */
export function openRequestLedger(options: RequestLedgerOptions) {
  const { file, keptMs, perTeamMax, clock, log } = options;
  const kept = openLocalFile({
    file,
    applicationId,
    schema: requestSchema,
    log,
    rowsOf: (database) => createRequestRows(database, perTeamMax),
  });
  const pulse = createCreationPulse(clock);
  let waiting: RequestRecord[] = [];
  let cancel: (() => void) | undefined;
  let trimmedAt = -Infinity;
  let isFailing = false;

  function write(): void {
    cancel?.();
    cancel = undefined;
    const [records, now] = [waiting, clock.now()];
    waiting = [];
    try {
      kept.use((rows) => rows.insert(records));
      isFailing = false;
      if (now - trimmedAt < trimEveryMs && now >= trimmedAt) return;
      trimmedAt = now;
      kept.use((rows) => rows.removeBefore(requestIdFrom(now - keptMs)));
    } catch (error) {
      // For example on a full disk: only the log has these requests.
      if (!isFailing) log.warn({ error, count: records.length }, 'requests cannot be recorded');
      isFailing = true;
    }
  }

  return {
    /** Stores it; never throws, and does not wait. */
    note(record: RequestRecord): void {
      pulse.note(record);
      if (waiting.length >= waitingMax) return;
      waiting.push(record);
      cancel ??= clock.after(writeAfterMs, write);
    },
    /** @throws file_not_openable (retryable); so does `list` */
    find(owner: RequestOwner, id: string): RequestRecord | undefined {
      write();
      return kept.use((rows) => rows.find(owner, id));
    },
    /** Latest first. */
    list(owner: RequestOwner, filter: RequestFilter): RequestPage {
      write();
      return kept.use((rows) => rows.list(owner, filter));
    },
    /** Durations of the creations of the last 24 hours, hour by hour. */
    creations: pulse.hours,
    close(): void {
      write();
      kept.close();
    },
  };
}
