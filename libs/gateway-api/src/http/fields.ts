/** What the fields of requests mean. The schemas say which values are valid. */
import { metadataFilterPattern, metadataFiltersMax, perPageMax } from './queries.ts';

interface Field {
  description: string;
  /** How it is written, where the schema of the parsed value does not say. */
  schema?: object;
  example?: unknown;
}

const flag = { type: 'string', enum: ['true', 'false'] };
const decimal = { type: 'string', pattern: String.raw`^\d{1,16}(\.\d{1,4})?$` };

/** Parameters of queries by name. */
export const queryFields: Readonly<Record<string, Field>> = {
  status: { description: 'Only those with this status.' },
  phase: { description: 'Only those in this phase.' },
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
  metadata: {
    description:
      'Only those with this entry in their metadata, as name and value: `metadata=order:4711`. Repeat it for several, which must all match.',
    schema: {
      type: 'array',
      maxItems: metadataFiltersMax,
      items: { type: 'string', pattern: metadataFilterPattern },
    },
  },
  wait: {
    description: 'Where there is nothing yet, seconds to wait for the next event.',
    schema: { type: 'integer', minimum: 0, maximum: 25, default: 0 },
  },
  errorCode: { description: 'Only those that were answered with this error code.' },
  keyId: { description: 'Only those of the API key with this id.' },
  person: { description: 'Only those of this person.' },
  token: { description: 'Only those about the payment, payout or refund with this token.' },
  endpoint: { description: 'Only those to the standing endpoint with this id.' },
  needsReview: { description: 'Only those with an open review, or only those without one.', schema: flag },
  operationType: { description: 'Payments, payouts, or both.' },
  team: { description: 'Only those of this team.' },
  environment: { description: 'Only those of this environment.' },
  createdFrom: {
    description: 'Created at this instant or later, ISO 8601.',
    schema: { type: 'string', format: 'date-time' },
  },
  createdBefore: {
    description: 'Created before this instant, ISO 8601.',
    schema: { type: 'string', format: 'date-time' },
  },
  amountFrom: {
    description: 'Of this amount or more, in whole units of the payment’s currency, such as 12.50.',
    schema: decimal,
  },
  amountTo: {
    description: 'Of this amount or less, in whole units of the payment’s currency, such as 12.50.',
    schema: decimal,
  },
  kind: { description: 'Only entries of this kind.' },
  state: { description: 'Filters by whether the credential is still active.' },
  order: { description: 'By creation: the newest first, or the oldest.' },
  account: { description: 'Only those that this merchant account takes.' },
  sanitizedMask: { description: 'Only those paid with a card of these last four digits, or of this mask.' },
  declineReason: { description: 'Only those that were declined for just this reason.' },
  unresolved: { description: 'Only those with a call whose outcome is not known.' },
  ledgerAccount: { description: 'Only entries with a posting to this ledger account.' },
  wallet: { description: 'Only those of this wallet, such as `team-shop`.' },
  month: {
    description: 'The month in UTC, such as `2030-01`.',
    schema: { type: 'string', pattern: '^[0-9]{4}-(0[1-9]|1[0-2])$' },
  },
  paymentToken: { description: 'Only those of the payment with this token.' },
  refundOpen: { description: 'Only those with a refund that is not decided.' },
  q: {
    description:
      'A token of Tollgate or of the Payment Service, a request id, an order number, or a masked card number.',
  },
  perPage: {
    description:
      'Entries per page. A page of payments or payouts is cut at about 1 MB, and `nextCursor` leads on.',
    schema: { type: 'integer', minimum: 1, maximum: perPageMax, default: 20 },
  },
  cursor: { description: '`nextCursor` of the previous page.' },
  withTotal: { description: 'Adds the count of all that match the filters.', schema: flag },
};

/** Fields of bodies by name, wherever they are. */
export const bodyFields: Readonly<Record<string, string>> = {
  product: 'What is bought; shown to the customer.',
  amount: 'Minor units: 1250 is 12.50 EUR.',
  currency: 'ISO 4217 alphabetic code in capitals.',
  callbackUrl: 'Where your team receives signed webhooks. Its origin must be on the list of allowed origins.',
  orderNumber: 'Your own number. Without an `Idempotency-Key` it makes the request idempotent.',
  metadata:
    'Up to 50 entries for yourself, returned as they are: names of 1 to 40 letters, digits, hyphens, dots and underscores, texts of up to 500 characters, 32 KiB in all. No card numbers.',
  redirectSuccessUrl: 'Where the customer returns after a successful payment.',
  redirectFailUrl: 'Where the customer returns after a failed payment.',
  locale: 'Language of the page, a BCP 47 tag.',
  needConfirmation: 'Authorize only: the money stays reserved until you confirm (capture) or decline (void).',
  recurring: 'Requests a recurring token for later charges.',
  recurringToken: 'The recurring token to charge or to pay to (`rec_…`).',
  card: 'Card data; requires the scope `cards`. It is forwarded and never stored.',
  customer: 'Data about the customer: sent with the payment, and not kept.',
  email: 'E-mail address.',
  ip: 'IPv4 or IPv6 address.',
  pan: 'Card number, 12 to 19 digits.',
  expires: 'MM/YYYY.',
  holder: 'As on the card.',
  cvv: '3 or 4 digits.',
  token: 'The payment.',
  destination: 'Where the money goes: exactly one of these fields.',
  bankAccount: 'A bank account.',
  bankName: 'Name of the bank.',
  account: 'Account number.',
  code: 'The code of the review, as listed.',
  number: 'Which review of this code, as listed.',
  resolution: 'One of the resolutions listed with the review.',
  reason: 'Why, in your own words. It becomes part of the history.',
  override: 'Skips the reconciliation that is due after the event store was restored from a backup.',
  offset:
    'Partition and offset, such as 3/17, from the list of dead letters. Without it: all that are callbacks.',
  id: 'The webhook.',
  endpoint: 'Only webhooks to the standing endpoint with this id.',
  environment: '`production` or `sandbox`.',
  team: 'The team; where several are meant, only those of this one.',
  scopes: 'What the key may do.',
  expiresAt: 'Expiry, ISO 8601. Never, if absent.',
  networks: 'From where it may be used, such as `10.20.0.0/16`; from everywhere unless given.',
  requestsPerSecondMax: 'A limit of its own, in place of the one for all.',
  credentialId: 'A token or session of a person: its id, which opens nothing.',
  person: 'A person, by name.',
  keyId:
    'Of a new key: the id that it gets; a repeat with it issues no second one. Of a limit: of this key alone, and of all keys of the team together unless given.',
  purpose: '`callback`: where webhooks may go. `redirect`: where customers may be sent.',
  origins: 'The whole list: it takes the place of the one before.',
  wallet: 'What the payouts are taken from.',
  kind: '`own`, `shared` or `provider`.',
  above: 'Minor units: payouts above it wait. 0: every one; null: none.',
  operation: '`payment`, `refund` or `payout`.',
  perCall: 'Of one call, in minor units; null: not limited.',
  perDay: 'Of one day in UTC, in minor units; null: not limited.',
  day: 'Of creation, in UTC, written YYYY-MM-DD; not in the future.',
  isDryRun: 'Only compares: nothing is inquired, and no review opens.',
  name: 'What you call the view, at most 40 characters; of a shared wallet, its name.',
  query: 'The query string of the list, without `?`.',
  url: 'Where webhooks are sent. Its origin must be on the list of allowed origins.',
  events:
    'Which webhooks are sent: `<type>.<status>` of the body, or `*` for all, also for those that are added later. All unless given.',
  description: 'A description of its purpose, at most 255 characters.',
  status:
    '`enabled` or `disabled`, of an endpoint; of a replay, which ones: `failed` (unless given) or `delivered`.',
  overlapHours: 'So many hours the former secret signs, too: 0 to 168.',
  createdFrom: 'Due at this instant or later, ISO 8601.',
  createdBefore: 'Due before this instant, ISO 8601.',
  from: 'The wallet that the money leaves.',
  to: 'The wallet that gets it.',
  cursor: '`nextCursor` of the answer before.',
};
