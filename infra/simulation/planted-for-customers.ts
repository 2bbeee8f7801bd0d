/** Planted bugs in what is kept of customers, and in what charges their cards again. */
import type { PlantedBug } from './planted-bugs.ts';

const commands = 'services/command-service/src';
const provider = 'libs/provider/src/payment-service';

export const bugsForCustomers: readonly PlantedBug[] = [
  {
    ...{ name: 'customer-kept', breaks: 'what is kept of a customer goes when nobody needs it', seeds: 400 },
    file: `${commands}/inquiries/inquire-payment.ts`,
    from: "if (terms.kind === 'hosted' && inquiryNeedOf(payment) === 'settled')",
    to: "if (terms.kind === 'card' && inquiryNeedOf(payment) === 'settled')",
  },
  {
    ...{ name: 'customer-not-sent', breaks: 'a creation says who pays', seeds: 20 },
    file: `${commands}/operations/create-payment.ts`,
    from: 'return { accounts: undefined, sent: given({ customer, source: card && { card } }) };',
    to: 'return { accounts: undefined, sent: given({ customer: card && customer, source: card && { card } }) };',
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
    from: 'const ours = listed.find(({ observed }) => mayBeMadeBy(payment.attempt, observed));',
    to: 'const ours = listed.find(({ observed }) => mayBeMadeBy(payment.attempt, observed) || observed);',
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
