/**
 * The local index of payment documents: a SQLite file that follows the documents in the event store and answers
 * lookups and lists. It is a cache: it may be deleted at any time and is built again from the documents.
 */
import type { EventStore, Position } from '@tollgate/event-store';
import type { Environment } from '@tollgate/payment-domain';
import { InvariantViolation, type Clock, type Log } from '@tollgate/service-kit';
import { createIndexFollower } from './index-follower.ts';
import type { PaymentDocument } from './payment-document.ts';
import type { PaymentIndexFile } from './payment-index-file.ts';
import type { OpenPayment, PaymentList, PaymentListQuery } from './payment-list.ts';
import { createPositionWatch } from './position-watch.ts';

export interface PaymentIndex {
  /**
   * Opens the file and follows the documents; resolves when every document of now is in it.
   *
   * @throws StartupError where the file cannot be used.
   */
  start(): Promise<void>;
  /** Ends the following and closes the file. */
  stop(): Promise<void>;
  /** A payment of this team in this environment. */
  get(environment: Environment, team: string, token: string): PaymentDocument | undefined;
  /** A payment of whatever team: for our own use, never for an answer to a caller. */
  find(token: string): PaymentDocument | undefined;
  list(query: PaymentListQuery): PaymentList;
  /**
   * Payments of all teams for which more is expected to happen, by token; `after` is the last token of the page before.
   * At most 1,000 at a time.
   */
  openPayments(options: { after?: string; limit: number }): OpenPayment[];
  /** Every event of a payment at or before this position is in its document here. */
  position(): Position;
  /** True as soon as `position()` has reached `position`, false after `timeoutMs` or when the index stops. */
  waitFor(position: Position, timeoutMs: number): Promise<boolean>;
}

export interface PaymentIndexOptions {
  /** Path of the SQLite file, or `:memory:`. */
  file: string;
  store: EventStore;
  log: Log;
  clock: Clock;
}

export function createPaymentIndex({ file: path, store, log, clock }: PaymentIndexOptions): PaymentIndex {
  const stopping = new AbortController();
  const watch = createPositionWatch(clock);
  const follower = createIndexFollower({ path, store, log, clock, watch });
  let following: Promise<void> | undefined;

  function opened(): PaymentIndexFile {
    const file = follower.file();
    if (file === undefined)
      throw new InvariantViolation('The index is not open: it is not started, or stopped.');
    return file;
  }

  return {
    start: async () => {
      follower.open();
      const caughtUp = Promise.withResolvers<undefined>();
      const onCaughtUp = () => caughtUp.resolve(undefined);
      following = follower.follow(stopping.signal, onCaughtUp).finally(onCaughtUp);
      await caughtUp.promise;
    },
    stop: async () => {
      stopping.abort();
      watch.end();
      await following;
      follower.close();
    },
    get: (environment, team, token) => {
      const document = opened().find(token);
      const isTheirs = document?.payment.environment === environment && document.payment.team === team;
      return isTheirs ? document : undefined;
    },
    find: (token) => opened().find(token),
    list: (query) => opened().list(query),
    openPayments: (page) => opened().openPayments(page),
    position: () => watch.current(),
    waitFor: (position, timeoutMs) => watch.waitFor(position, timeoutMs),
  };
}
