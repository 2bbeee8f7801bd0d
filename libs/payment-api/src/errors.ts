/** Error codes of the Payment Service and their kinds (specification, section 7; the codes themselves: open point 7). */
import type { ApiError, SpecifiedErrorKind } from '@tollgate/core/money';

/** By code: its kind, and the HTTP status of the sandbox (not shown in the specification). */
const errors = {
  auth_header_not_found: ['authentication_error', 401],
  incorrect_private_key: ['authentication_error', 401],
  https_required: ['authentication_error', 403],
  invalid_json: ['invalid_request_error', 400],
  invalid_param: ['invalid_request_error', 400],
  incorrect_amount: ['invalid_request_error', 400],
  incorrect_currency: ['invalid_request_error', 400],
  payment_not_found: ['invalid_request_error', 404],
  payment_in_final_state: ['processing_error', 409],
  payment_not_confirmable: ['processing_error', 409],
  order_number_already_exists: ['processing_error', 409],
  refund_exceeds_amount: ['processing_error', 409],
  no_money_available_on_refund: ['processing_error', 409],
  balance_less_than_amount: ['processing_error', 409],
  recurring_token_not_found: ['processing_error', 409],
  core_api_error: ['api_error', 500],
} as const satisfies Record<string, readonly [SpecifiedErrorKind, number]>;

/** A code that the Payment Service of this project answers. */
export type ErrorCode = keyof typeof errors;

export const errorKindByCode = Object.fromEntries(
  Object.entries(errors).map(([code, [kind]]) => [code, kind]),
) as Readonly<Record<ErrorCode, SpecifiedErrorKind>>;

/** True for a code of {@link errorKindByCode}. */
export const isErrorCode = (code: string): code is ErrorCode => Object.hasOwn(errorKindByCode, code);

/** The HTTP status of an answer with this error first. */
export const statusOf = (code: string): number => errors[isErrorCode(code) ? code : 'core_api_error'][1];

/** Builds one error entry; the kind follows from the code. */
export const apiError = (code: ErrorCode, message: string, parameter?: string): ApiError => ({
  code,
  kind: errorKindByCode[code],
  message,
  ...(parameter === undefined ? {} : { parameter }),
});
