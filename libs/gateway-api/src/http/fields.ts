/** Descriptions of request fields. The schemas state which values are valid. */
import { metadataFilterPattern, metadataFiltersMax } from './metadata-filter.ts';
import { perPageMax } from './queries.ts';

interface Field {
  description: string;
  /** Its written form, if the schema of the parsed value does not define it. */
  schema?: object;
  example?: unknown;
}

const flag = { type: 'string', enum: ['true', 'false'] };
const decimal = { type: 'string', pattern: String.raw`^\d{1,16}(\.\d{1,4})?$` };

/** Parameters of queries by name. */
export const queryFields: Readonly<Record<string, Field>> = {
  status: { description: 'Only those with this status.' },
  phase: { description: 'Only those in this phase.' },
  orderNumber: { description: 'Only those with this order number.' },
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
    description: 'Seconds to wait for the next event if there is none yet.',
    schema: { type: 'integer', minimum: 0, maximum: 25, default: 0 },
  },
  errorCode: { description: 'Only those that were answered with this error code.' },
  keyId: { description: 'Only those of the API key with this id.' },
  person: { description: 'Only those of this person.' },
  token: { description: 'Only those about the payment, payout or refund with this token.' },
  endpoint: { description: 'Only those to the standing endpoint with this id.' },
  id: { description: 'Only the webhook with this id.' },
  change: { description: 'Only changes of teams of this type.' },
  by: { description: 'How the payments are grouped; all together unless given.' },
  step: { description: 'Length of a step in UTC.' },
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
  order: { description: 'By creation: newest or oldest first.' },
  account: { description: 'Only those of this merchant account.' },
  sanitizedMask: { description: 'Only those paid with a card of these last four digits, or of this mask.' },
  declineReason: { description: 'Only those declined for exactly this reason.' },
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
    description: 'Entries per page. A page of payments or payouts ends at about 1 MB; follow `nextCursor`.',
    schema: { type: 'integer', minimum: 1, maximum: perPageMax, default: 20 },
  },
  cursor: { description: '`nextCursor` of the previous page.' },
  withTotal: { description: 'Adds the number of matches.', schema: flag },
};

/** Fields of bodies by name, wherever they are. */
export const bodyFields: Readonly<Record<string, string>> = {
  product: 'Description of the purchase; shown to the customer.',
  amount: 'Minor units: 1250 is 12.50 EUR.',
  currency: 'ISO 4217 alphabetic code in capitals.',
  callbackUrl: 'Where your team receives signed webhooks. Its origin must be on the list of allowed origins.',
  orderNumber: 'Your own number. Without an `Idempotency-Key` it makes the request idempotent.',
  metadata:
    'Up to 50 entries, returned unchanged: names of 1 to 40 letters, digits, hyphens, dots and underscores, texts of up to 500 characters, 32 KiB in all. No card numbers.',
  redirectSuccessUrl: 'Where the customer returns after a successful payment.',
  redirectFailUrl: 'Where the customer returns after a failed payment.',
  locale: 'Language of the page, a BCP 47 tag.',
  needConfirmation: 'Authorize only: the money stays reserved until you confirm (capture) or decline (void).',
  recurring: 'Requests a recurring token for later charges.',
  recurringToken: 'The recurring token to charge or to pay to (`rec_…`).',
  card: 'Card data; requires the scope `cards`. It is forwarded and never stored.',
  customer: 'Data about the customer. Sent with the payment and not kept.',
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
  code: 'Code of the review, from the list.',
  number: 'Number of the review, from the list.',
  resolution: 'One of the resolutions listed with the review.',
  reason: 'Reason of the decision, for the history.',
  override: 'Skips the reconciliation that is due after a restore.',
  id: 'The webhook.',
  endpoint: 'Only webhooks to the standing endpoint with this id.',
  environment: '`production` or `sandbox`.',
  team: 'Name of the team. In lists, only those of this team.',
  scopes: 'Scopes of the key.',
  expiresAt: 'Expiry, ISO 8601. If absent, the key does not expire.',
  networks: 'Networks from which the key may be used, such as `10.20.0.0/16`; all by default.',
  requestsPerSecondMax: 'Rate limit of this key, instead of the default.',
  credentialId: 'Id of a token or session; grants no access.',
  person: 'A person, by name.',
  keyId:
    'For a new key: its id; a repeat issues no second key. For a limit: the key that it limits; the whole team if absent.',
  purpose: '`callback`: origins of webhook URLs. `redirect`: origins of redirect URLs.',
  origins: 'The whole list; replaces the previous one.',
  wallet: 'Source of payouts.',
  kind: '`own`, `shared` or `provider`.',
  above: 'Minor units. Payouts above it wait for approval; 0: all; null: none.',
  operation: '`payment`, `refund` or `payout`.',
  perCall: 'Maximum of one call, in minor units; null: not limited.',
  perDay: 'Maximum of one day in UTC, in minor units; null: not limited.',
  day: 'Day of creation in UTC, YYYY-MM-DD; not in the future.',
  isDryRun: 'Only compares: no inquiry is made, and no review opens.',
  name: 'Name of the view, at most 40 characters; or name of a shared wallet.',
  query: 'The query string of the list, without `?`.',
  url: 'URL of the receiver. Its origin must be on the list of allowed origins.',
  events:
    'Events to send: `<type>.<status>` of the body, or `*` for all, including future ones. Default: all.',
  description: 'A description of its purpose, at most 255 characters.',
  status: 'For an endpoint: `enabled` or `disabled`. For a replay: `failed` (default) or `delivered`.',
  overlapHours: 'Hours for which the old secret signs as well: 0 to 168.',
  createdFrom: 'Due at this instant or later, ISO 8601.',
  createdBefore: 'Due before this instant, ISO 8601.',
  from: 'The debited wallet.',
  to: 'The credited wallet.',
  cursor: '`nextCursor` of the previous answer.',
};
