/** What the fields of requests mean. The schemas tell what may be in them. */
import { perPageMax } from '@tollgate/view-index';

interface Field {
  description: string;
  /** How it is written, where the schema of the parsed value does not tell. */
  schema?: object;
  example?: unknown;
}

const flag = { type: 'string', enum: ['true', 'false'] };

/** Parameters of queries by name. */
export const queryFields: Readonly<Record<string, Field>> = {
  status: { description: 'Only those of this status of the specification.' },
  phase: { description: 'Only those of this phase.' },
  orderNumber: { description: 'Only those with this order number of yours.' },
  currency: { description: 'ISO 4217 alphabetic code in capitals.', example: 'EUR' },
  dateFrom: {
    description: 'Created on this day in UTC or later.',
    schema: { type: 'string', format: 'date' },
  },
  dateTo: {
    description: 'Created on this day in UTC or earlier.',
    schema: { type: 'string', format: 'date' },
  },
  from: {
    description: 'First day, in UTC; 29 days before `to` unless given.',
    schema: { type: 'string', format: 'date' },
  },
  to: {
    description: 'Last day, in UTC; today unless given.',
    schema: { type: 'string', format: 'date' },
  },
  needsReview: { description: 'Only those that wait for a person, or only those that do not.', schema: flag },
  operationType: { description: 'Payments, payouts, or both.' },
  perPage: {
    description: 'Entries of a page.',
    schema: { type: 'integer', minimum: 1, maximum: perPageMax, default: 20 },
  },
  page: {
    description: 'Number of the page, from 1; not beside a cursor.',
    schema: { type: 'integer', minimum: 1 },
  },
  cursor: { description: '`nextCursor` of the page before.' },
  withTotal: { description: 'Counts all that the filters let through.', schema: flag },
};

/** Fields of bodies by name, wherever they are. */
export const bodyFields: Readonly<Record<string, string>> = {
  product: 'What is bought; shown to the customer.',
  amount: 'Minor units: 1250 is 12.50 EUR.',
  currency: 'ISO 4217 alphabetic code in capitals.',
  callbackUrl: 'Where your team is told about changes, signed; an origin that your team has allowed.',
  orderNumber: 'Your own number. Without an `Idempotency-Key` it tells a repeat from a new request.',
  redirectSuccessUrl: 'Where the customer comes back to after paying.',
  redirectFailUrl: 'Where the customer comes back to after failing.',
  locale: 'Language of the page, a BCP 47 tag.',
  needConfirmation: 'Two steps: the money is held until you confirm or decline.',
  recurring: 'Asks for a recurring token, with which later payments are charged.',
  recurringToken: 'The recurring token to charge or to pay to (`rec_…`).',
  card: 'Card data; takes the scope `cards`. It is handed on and never stored.',
  customer: 'About the customer.',
  email: 'E-mail address.',
  ip: 'IPv4 or IPv6 address.',
  pan: 'Card number, 12 to 19 digits.',
  expires: 'MM/YYYY.',
  holder: 'As on the card.',
  cvv: '3 or 4 digits.',
  token: 'The payment.',
  destination: 'Where the money goes: exactly one of these.',
  bankAccount: 'An account at a bank.',
  bankName: 'The bank.',
  account: 'Number of the account.',
  code: 'What waits for a person, as it is listed.',
  number: 'Which one of this code, as it is listed.',
  resolution: 'One of those that are listed with it.',
  reason: 'Why, in your own words; it becomes part of the history.',
  id: 'The webhook.',
};
