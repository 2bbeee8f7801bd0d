/**
 * Result of an inquiry: `inquired` (what the provider says is recorded), `awaiting-answer` (the call that creates it
 * may still be answered, which says more), `nothing-there` (the token is not ours), `failed` (no usable answer),
 * `not-asked` (the account cannot be asked now).
 */
export type InquiryResult = 'inquired' | 'awaiting-answer' | 'nothing-there' | 'failed' | 'not-asked';

/** Inquiries that are repeated because their subject changed meanwhile, at most; then the schedule brings the next one. */
export const inquiriesPerRequestMax = 4;
