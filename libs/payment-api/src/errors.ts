/** Error codes of the Payment Service and their kinds (specification, section 7; the codes themselves: open point 7). */
import type { ApiError, SpecifiedErrorKind } from '@tollgate/core/money';

export const errorKindByCode = {
  auth_header_not_found: 'authentication_error',
  incorrect_private_key: 'authentication_error',
  https_required: 'authentication_error',
  invalid_json: 'invalid_request_error',
  invalid_param: 'invalid_request_error',
  incorrect_amount: 'invalid_request_error',
  incorrect_currency: 'invalid_request_error',
  payment_not_found: 'invalid_request_error',
  payment_in_final_state: 'processing_error',
  payment_not_confirmable: 'processing_error',
  order_number_already_exists: 'processing_error',
  refund_exceeds_amount: 'processing_error',
  no_money_available_on_refund: 'processing_error',
  balance_less_than_amount: 'processing_error',
  recurring_token_not_found: 'processing_error',
  core_api_error: 'api_error',
} as const satisfies Record<string, SpecifiedErrorKind>;

/** A code that the Payment Service of this project answers. */
export type ErrorCode = keyof typeof errorKindByCode;

/** True for a code of {@link errorKindByCode}. */
export const isErrorCode = (code: string): code is ErrorCode => Object.hasOwn(errorKindByCode, code);

/** Builds one error entry; the kind follows from the code. */
export const apiError = (code: ErrorCode, message: string, parameter?: string): ApiError => ({
  code,
  kind: errorKindByCode[code],
  message,
  ...(parameter === undefined ? {} : { parameter }),
});
