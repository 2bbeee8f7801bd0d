import type { Log, LogFields } from '@tollgate/service-kit';

/** Something that is tried again until it works: it is logged when it begins to fail and when it works again. */
export type Trouble = ReturnType<typeof createTrouble>;

export function createTrouble(log: Log, messages: { failing: string; over: string }) {
  let fieldsOfFirst: LogFields | undefined;
  return {
    /** Logs a warning for the first failure; later ones, until it works again, are for debugging. */
    failed(fields: LogFields): void {
      if (fieldsOfFirst === undefined) log.warn(fields, messages.failing);
      else log.debug(fields, messages.failing);
      fieldsOfFirst ??= fields;
    },
    worked(): void {
      if (fieldsOfFirst === undefined) return;
      const { operation = '' } = fieldsOfFirst;
      fieldsOfFirst = undefined;
      log.info({ operation }, messages.over);
    },
  };
}
