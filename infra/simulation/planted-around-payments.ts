/** Planted bugs in what is around payments: customers and their tokens, restored stores, teams that move. */
import type { PlantedBug } from './planted-bugs.ts';

const commands = 'services/command-service/src';
const provider = 'libs/provider/src/payment-service';

export const bugsForCustomers: readonly PlantedBug[] = [
  {
    ...{ name: 'customer-kept', breaks: 'what is kept of a customer goes when nobody needs it', seeds: 400 },
    file: `${commands}/inquiries/inquire-payment.ts`,
    from: "if (terms.kind === 'hosted' && isFinalPhase(payment.phase))",
    to: "if (terms.kind === 'card' && isFinalPhase(payment.phase))",
  },
  {
    ...{ name: 'customer-not-sent', breaks: 'a creation says who pays', seeds: 20 },
    file: `${commands}/operations/create-payment.ts`,
    from: 'return { accounts: undefined, sent: omitUndefined({ customer, source: card && { card } }) };',
    to: 'return { accounts: undefined, sent: omitUndefined({ customer: card && customer, source: card && { card } }) };',
  },
  {
    ...{ name: 'alias-of-another-team', breaks: 'a recurring token is of one team', seeds: 100 },
    file: `${commands}/operations/operation.ts`,
    from: 'if (found?.team !== caller.team || found.environment',
    to: 'if (found === undefined || found.environment',
  },
  {
    ...{
      name: 'alias-through-any-account',
      breaks: 'a recurring token charges through one account',
      seeds: 100,
    },
    file: `${commands}/operations/create-payment.ts`,
    from: 'return found && { accounts: [found.account], sent',
    to: 'return found && { accounts: undefined, sent',
  },
  {
    ...{ name: 'alias-of-a-stranger', breaks: 'nothing is kept of a payment that is not ours', seeds: 1000 },
    file: `${commands}/inquiries/inquire-payment.ts`,
    from: 'const ours = listed.find(({ observed }) => observed === likeliest);',
    to: 'const ours = listed.find(({ observed }) => observed === likeliest || likeliest === undefined);',
  },
  {
    ...{ name: 'alias-never-issued', breaks: 'a payment that yields a token says so', seeds: 20 },
    file: `${commands}/inquiries/inquire-payment.ts`,
    from: 'if (!isWanted || serviceRecurringToken === undefined) return observed;',
    to: "if (!isWanted || serviceRecurringToken === undefined || cause.correlationId !== '') return observed;",
  },
  {
    ...{
      name: 'token-in-clear',
      breaks: 'I13: a recurring token of the provider is in no record',
      seeds: 20,
    },
    file: `${provider}/callback.ts`,
    from: "'orderNumber', 'amount', 'currency'] as const;",
    to: "'orderNumber', 'amount', 'currency', 'recurringToken'] as const;",
  },
];

/** Planted bugs in what a restored store has forgotten. */
export const bugsOfRestores: readonly PlantedBug[] = [
  {
    ...{ name: 'paid-again', breaks: 'what was paid under its number is not paid again', seeds: 400 },
    file: 'libs/payment-domain/src/payout/payout-approval.ts',
    from: "isOpen({ reviews }, 'second_payout_found');",
    to: "isOpen({ reviews: reviews.slice(0, 0) }, 'second_payout_found');",
  },
  {
    ...{ name: 'waiting-is-known', breaks: 'a payout that waits is not the one that was paid', seeds: 400 },
    file: `${commands}/reconciliation/comparison.ts`,
    from: "'payout' in subject && isBeforeAnnouncement(subject.payout);",
    to: "'payout' in subject && isBeforeAnnouncement(subject.payout) && subject.payout.phase === 'failed';",
  },
  {
    ...{ name: 'only-there-unnamed', breaks: 'what only the provider has is named to a person', seeds: 1000 },
    file: `${commands}/reconciliation/reconcile-row.ts`,
    from: 'if (mayOpen) {',
    to: 'if (mayOpen && !isNew) {',
  },
];

/** Planted bugs in what operators take over of payments that were made before. */
export const bugsOfMoving: readonly PlantedBug[] = [
  {
    ...{ name: 'adopts-its-own', breaks: 'what a gateway has made is not adopted', seeds: 200 },
    file: `${commands}/adoption/adopt-row.ts`,
    from: 'if (maker !== undefined) return as(maker);',
    to: "if (maker !== undefined && listed.observed.orderNumber === '') return as(maker);",
  },
  {
    ...{ name: 'adopted-in-review', breaks: 'what is adopted is in question no more', seeds: 200 },
    file: `${commands}/aggregates/unmatched.ts`,
    from: 'of known?.unmatched.reviews ?? []) {',
    to: 'of known?.unmatched.reviews.slice(0, 0) ?? []) {',
  },
];

/** Planted bugs in what persons have answered, and in what they are asked. */
export const bugsOfReviews: readonly PlantedBug[] = [
  {
    ...{ name: 'amount-as-asked-for', breaks: 'a payout is of what a person says that it is', seeds: 400 },
    file: 'libs/payment-domain/src/payout/payout-state.ts',
    from: 'return { ...withAmountThatHolds(state, event), ...afterResolved(state, event.data) };',
    to: 'return { ...state, ...afterResolved(state, event.data) };',
  },
  {
    ...{ name: 'amount-as-approved', breaks: 'what is shown as less is not paid out of', seeds: 200 },
    file: 'libs/views/src/position-in-review.ts',
    from: 'return isDisagreeing ? Math.max(0, Math.floor(shown)) : taken;',
    to: 'return taken;',
  },
  {
    ...{ name: 'declined-for-good', breaks: 'a declined payout may turn up paid', seeds: 500 },
    file: 'libs/payment-domain/src/payout/payout-observation.ts',
    from: 'if (to === from) return [];',
    to: "if (from === 'declined' || to === from) return [];",
  },
];
