import { TollgateError } from '@tollgate/service-kit';

/** The bus did not confirm: of the messages some, all or none were written. Retryable unless said otherwise. */
export class BusUnavailable extends TollgateError {
  constructor(code: string, message: string, options: { retryable?: boolean; cause?: unknown } = {}) {
    super(code, message, { retryable: true, ...options });
  }
}
