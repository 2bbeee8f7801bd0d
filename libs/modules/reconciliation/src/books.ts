/** Our side of a reconciliation: what the index has. */
import type { Environment, OperationKind, PaymentAggregate, PayoutAggregate } from '@tollgate/core';

/** As the index has it, which may be behind what is recorded. */
export type BookedOperation = PaymentAggregate | PayoutAggregate;

/** Reads throw what is retryable while the index is not whole. */
export interface Books {
  find(operation: OperationKind, token: string): BookedOperation | undefined;
  /** The payment that an account knows by this token of its own. */
  findPayment(environment: Environment, account: string, serviceToken: string): string | undefined;
  /** All of an account that were created on a day, a page at a time. */
  pagesOf(operation: OperationKind, place: BooksOfDay): Iterable<readonly BookedOperation[]>;
}

interface BooksOfDay {
  environment: Environment;
  account: string;
  /** `YYYY-MM-DD` in UTC. */
  day: string;
}
