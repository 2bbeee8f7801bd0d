/**
 * How a look ended: `looked` (what the service says is recorded), `awaiting-answer` (the call that creates it may still be
 * answered, which tells more), `nothing-there` (the token is not ours), `failed` (the service gave no usable answer).
 */
export type InquiryResult = 'inquired' | 'awaiting-answer' | 'nothing-there' | 'failed';

/** Looks at one thing that are begun anew because it changed meanwhile, at most; then the schedule brings the next one. */
export const inquiriesPerRequestMax = 4;
