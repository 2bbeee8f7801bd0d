/** The messages of `gateway.payouts.v1`: what each event means, and an example of it. */
import type { payoutEventData } from '../consumer/payout-event-data.ts';
import type { RecordedPayout } from '../payout-records.ts';
import {
  type DescribedEvents,
  exampleInstant,
  exampleSendBy as sendBy,
  refusalExample as noFunds,
} from './described-event.ts';

const terms = {
  ...{ amount: 5000, currency: 'EUR', orderNumber: 'payout-1' },
  destination: { kind: 'card', sanitizedMask: '439296******1251' } as const,
};

/** As it stands when it has just been requested. */
export const examplePayout: RecordedPayout = {
  ...{
    token: 'po_6b3kz7nq2v4t5ycx',
    environment: 'sandbox',
    team: 'shop',
    status: 'pending',
    phase: 'requested',
  },
  ...terms,
  ...{ errors: [], reviews: [], createdAt: exampleInstant, updatedAt: exampleInstant },
};

const pending = { status: 'pending', phase: 'pending' } as const;
const approved = { status: 'approved', phase: 'approved' } as const;
const reviews = { code: 'final_status_revised' };

export const payoutEvents: DescribedEvents<typeof payoutEventData, RecordedPayout> = {
  PayoutRequested: {
    meaning: 'A team has asked for a payout. Nothing has been sent to the Payment Service yet.',
    data: { ...terms, call: { providerOrderNumber: examplePayout.token, sendBy } },
    after: {},
  },
  PayoutAccepted: {
    meaning: 'The Payment Service has taken the payout on.',
    data: { evidence: 'answer' },
    after: pending,
  },
  PayoutRefused: {
    meaning: 'The Payment Service has certainly refused the payout.',
    data: { errors: [noFunds] },
    after: {},
  },
  PayoutNotSent: {
    meaning: 'The call has provably never left the gateway.',
    data: { reason: 'connection refused' },
    after: {},
  },
  PayoutUnresolved: {
    meaning: 'The call was sent, and its answer was lost: what became of it is being found out.',
    data: { reason: 'timeout' },
    after: { phase: 'unresolved' },
  },
  PayoutApproved: { meaning: 'The money is paid out.', data: {}, after: approved },
  PayoutDeclined: {
    meaning: 'The payout is declined.',
    data: { declineReason: 'card expired' },
    after: { status: 'declined', phase: 'declined', declineReason: 'card expired' },
  },
  PayoutFailed: {
    meaning: 'Nothing was paid out, and nothing will be.',
    data: { reason: 'refused' },
    after: { status: 'declined', phase: 'failed', errors: [noFunds] },
  },
  FinalStatusRevised: {
    meaning: 'The Payment Service has changed a final status.',
    data: { from: 'declined', to: 'approved' },
    after: approved,
  },
  ReviewOpened: {
    meaning: 'A person is needed.',
    data: { code: reviews.code, evidence: { from: 'declined', to: 'approved' } },
    after: { ...approved, reviews: [reviews] },
  },
  ReviewResolved: {
    meaning: 'What a person was needed for has ended.',
    data: { code: reviews.code, number: 1, resolution: 'acknowledged', reason: 'Seen at the bank.' },
    after: approved,
  },
};

/** What the fields of a payout mean. */
export const payoutFields: Record<keyof RecordedPayout, string> = {
  token: "The gateway's name of the payout, and the key of its records.",
  environment: '`sandbox` or `production`.',
  team: 'The team that asked for it.',
  status: "The specification's status.",
  phase: 'Tells more than the status; more phases may come.',
  amount: 'In minor units: 1250 is 12.50 EUR.',
  currency: 'ISO 4217 alphabetic code in capitals.',
  orderNumber: "The team's own number.",
  destination: 'Where the money goes; tells people which card or account it was, and pays to none.',
  declineReason: 'Why it was declined.',
  errors: 'Of a payout that failed: what the Payment Service said.',
  reviews: 'What waits for a person.',
  createdAt: 'ISO 8601 in UTC.',
  updatedAt: 'When its last event was recorded. ISO 8601 in UTC.',
};
