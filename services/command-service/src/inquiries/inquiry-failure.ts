/** Why a question to the Payment Service brought nothing that could be recorded. */
import type { ApiError } from '@tollgate/payment-api';
import { type InquiryFailure, isFaultOfAccount } from '@tollgate/payment-domain';
import type { Asked } from './ask-account.ts';

/** @returns undefined where nothing was asked, which tells nothing about the account */
export function failureOf(asked: Exclude<Asked<unknown>, { kind: 'accepted' }>): InquiryFailure | undefined {
  switch (asked.kind) {
    case 'account-missing':
      return 'account_missing';
    case 'not-asked':
      return undefined;
    case 'refused':
      return isFaultOfAccount(asked.errors) ? 'refused' : 'no_answer';
    case 'not-sent':
    case 'unknown':
      return 'no_answer';
  }
}

export const isNotFound = (errors: readonly ApiError[]): boolean =>
  errors.some(({ code }) => code === 'payment_not_found');
