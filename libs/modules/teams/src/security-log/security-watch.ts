/** Writes entries of a process to the security log: rejected callers, exports, decisions. */
import type { Actor, Environment, Person } from '@tollgate/core';
import { type Clock, type Log, omitUndefined } from '@tollgate/service-kit';
import { isKeyIdOfPerson } from '../operators/credentials.ts';
import type { AccessRefusal } from '../team-directory.ts';
import type { SecurityEvent, SecurityEventOf } from './entries.ts';
import { type Count, type Repeats, createRepeats } from './repeats.ts';
import type { SecurityEntry, SecurityLog } from './security-log.ts';

/** A request under a key. */
interface KeyedRequest {
  team: string;
  keyId: string;
  environment: Environment;
  address: string;
  /** The route's pattern. */
  route: string;
}

export type SecurityWatch = ReturnType<typeof createSecurityWatch>;

export interface SecurityWatchDependencies {
  securityLog: Pick<SecurityLog, 'record'>;
  clock: Clock;
  log: Log;
}

const writeEveryMs = 1_000;
/** Maximum entries that wait for an unavailable store; excess ones are only in the log of the process. */
const waitingMax = 500;
/** Per append. */
const batchMax = 100;

/** A person's full name: a prefix would identify no one. */
const prefixOf = (keyId: string | undefined): string | undefined =>
  keyId === undefined || isKeyIdOfPerson(keyId) ? keyId : keyId.slice(0, 8);

export function createSecurityWatch({ securityLog, clock, log }: SecurityWatchDependencies) {
  const refusals = createRepeats<AccessRefusal>({
    keyOf: ({ code, address, keyId, team, environment }) =>
      JSON.stringify([code, address, prefixOf(keyId), team, environment]),
    asOneOfMany: ({ code }) => ({ code, address: 'several', method: '', route: '' }),
  });
  const exports = createRepeats<KeyedRequest>({
    keyOf: (request) => JSON.stringify(request),
    // Keys are few, so each is recorded.
    asOneOfMany: (request) => request,
    perMinuteMax: Infinity,
  });
  const resolutions = createRepeats<object>({
    keyOf: (asked) => JSON.stringify(asked),
    asOneOfMany: (asked) => asked,
    perMinuteMax: Infinity,
  });
  const { wait, writeOrTell } = createEntryQueue({ securityLog, log });

  function tellRefusal(refusal: AccessRefusal, count: Count): void {
    const { code, address, team, method, route, requestId } = refusal;
    const keyId = prefixOf(refusal.keyId);
    const fields = omitUndefined({ code, address, team, keyId, method, route, requestId });
    log.warn({ ...fields, count: count.count }, 'requests rejected');
    wait({ event: toAccessRefused(refusal, count), actor: watching });
  }

  function noteCounted(now: number): void {
    for (const { item, count } of refusals.due(now)) tellRefusal(item, count);
    for (const { item, count } of exports.due(now)) wait(toExportEntry(item, count));
    // A repeat of a refused request counts as the same.
    resolutions.due(now);
  }

  /** Writes the first of several before it resolves. */
  async function recordFirst<Item>(
    repeats: Repeats<Item>,
    item: Item,
    toEntry: (count: Count) => SecurityEntry,
  ) {
    const now = clock.now();
    if (!repeats.isFirst(item, now)) return;
    await securityLog.record([toEntry({ count: 1, from: now, until: now })]).catch((error: unknown) => {
      repeats.forget(item);
      throw error;
    });
  }

  return {
    /** Never fails, and never waits: it is written within a second, or later if the store is unavailable. */
    noteRefusal(refusal: AccessRefusal): void {
      // A request without a key is not an attempt to use one.
      if (refusal.code === 'auth_header_not_found') return;
      const now = clock.now();
      if (refusals.isFirst(refusal, now)) tellRefusal(refusal, { count: 1, from: now, until: now });
    },
    /** Resolves when the export by this key is durably recorded: before anything of it is sent. @throws StoreUnavailable */
    recordExport: (request: KeyedRequest): Promise<void> =>
      recordFirst(exports, request, (count) => toExportEntry(request, count)),
    /** Resolves when the resolution by this key is durably recorded. @throws StoreUnavailable */
    recordResolution(
      { team, environment, keyId, address }: Omit<KeyedRequest, 'route'>,
      review: { token: string; code: string; number: number; resolution: string },
    ): Promise<void> {
      const data = { team, environment, keyId, address, ...review };
      const actor: Actor = { kind: 'team', team, keyId, address };
      const entry: SecurityEntry = { event: { type: 'ReviewResolutionAsked', data }, actor };
      return recordFirst(resolutions, data, () => entry);
    },
    /** Resolves when the person's API command is durably recorded. @throws StoreUnavailable */
    recordCommand: ({
      person,
      command,
      detail,
    }: { person: Person } & SecurityEventOf<'OperatorActed'>['data']): Promise<void> =>
      securityLog.record([{ event: { type: 'OperatorActed', data: { command, detail } }, actor: person }]),
    /** Writes noted entries until the signal is aborted and the rest is written. Never rejects. */
    async run(signal: AbortSignal): Promise<void> {
      while (!signal.aborted) {
        await clock.sleep(writeEveryMs, signal).catch(() => undefined);
        noteCounted(clock.now());
        await writeOrTell();
      }
      for (const { item, count } of refusals.rest()) tellRefusal(item, count);
      for (const { item, count } of exports.rest()) wait(toExportEntry(item, count));
      await writeOrTell();
    },
  };
}

function createEntryQueue({ securityLog, log }: Pick<SecurityWatchDependencies, 'securityLog' | 'log'>) {
  const waiting: SecurityEntry[] = [];

  async function write(): Promise<void> {
    while (waiting.length > 0) {
      const batch = waiting.slice(0, batchMax);
      await securityLog.record(batch);
      waiting.splice(0, batch.length);
    }
  }

  return {
    wait(entry: SecurityEntry): void {
      if (waiting.length < waitingMax) waiting.push(entry);
      else
        log.error({ code: entry.event.type, count: waitingMax }, 'an entry of the security log is dropped');
    },
    writeOrTell: () =>
      write().catch((error: unknown) =>
        log.warn({ error, count: waiting.length }, 'the security log cannot be written; retrying'),
      ),
  };
}

const watching: Actor = { kind: 'service', name: 'gateway' };

function toAccessRefused(
  { code, address, team, environment, method, route, requestId, keyId }: AccessRefusal,
  count: Count,
): SecurityEventOf<'AccessRefused'> {
  const keyIdPrefix = prefixOf(keyId);
  return {
    type: 'AccessRefused',
    data: {
      code,
      address,
      method,
      route,
      ...omitUndefined({ keyIdPrefix, team, environment, requestId }),
      ...count,
    },
  };
}

function toExportEntry(request: KeyedRequest, count: Count): SecurityEntry {
  const { team, keyId, address } = request;
  const event: SecurityEvent = { type: 'ExportMade', data: { ...request, ...count } };
  return { event, actor: { kind: 'team', team, keyId, address } };
}
