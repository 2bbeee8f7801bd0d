/** Our side of a reconciliation: the index. */
import type { Environment, OperationKind, PaymentAggregate, PayoutAggregate } from '@tollgate/core';

/** From the index, which may lag behind the recorded events. */
export type BookedOperation = PaymentAggregate | PayoutAggregate;

/** Reads throw retryable errors while the index is incomplete. */
export interface Books {
  find(operation: OperationKind, token: string): BookedOperation | undefined;
  /** Our payment under this provider token. */
  findPayment(environment: Environment, account: string, serviceToken: string): string | undefined;
  /** Everything of an account created on a day, a page at a time. */
  pagesOf(operation: OperationKind, place: BooksOfDay): Iterable<readonly BookedOperation[]>;
}

interface BooksOfDay {
  environment: Environment;
  account: string;
  /** `YYYY-MM-DD` in UTC. */
  day: string;
}
