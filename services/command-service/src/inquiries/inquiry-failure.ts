import type { InquiryFailure } from '@tollgate/payment-domain';
import type { Asked } from './ask-account.ts';

/** Why an inquiry has no result. That nobody was asked says nothing about the account. */
export function failureOf(
  asked: Exclude<Asked<unknown>, { kind: 'accepted' }>,
): InquiryFailure | 'not-asked' {
  switch (asked.kind) {
    case 'account-missing':
      return 'account_missing';
    case 'not-asked':
      return 'not-asked';
    case 'refused':
      return asked.isAccountRefused === true ? 'refused' : 'no_answer';
    case 'missing':
    case 'not-sent':
    case 'unknown':
      return 'no_answer';
  }
}
