/** The kinds of documents: one description each, from which projector and index do the rest. */
import {
  disputeStreamPrefix,
  inquiryNeedOf,
  inquiryNeedOfPayout,
  paymentPhases,
  paymentStreamPrefix,
  payoutPhases,
  payoutStreamPrefix,
  statusOfPayoutPhase,
  statusOfPhase,
  type Review,
} from '@tollgate/payment-domain';
import type { Columns, ViewKind } from './view-kind.ts';
import {
  disputeViewSchema,
  disputeViewSchemaVersion,
  foldDisputeView,
  openedAtOf,
  type DisputeView,
} from './dispute-view.ts';
import {
  foldPaymentView,
  paymentViewSchema,
  paymentViewSchemaVersion,
  type PaymentView,
} from './payment-view.ts';
import { foldPayoutView, payoutViewSchema, payoutViewSchemaVersion, type PayoutView } from './payout-view.ts';
import { firstViewVersion, viewStreamOf, type ViewVersion } from './view-streams.ts';

export const paymentKind: ViewKind<PaymentView> = {
  name: 'payment',
  streamPrefix: paymentStreamPrefix,
  writtenEventType: 'PaymentViewWritten',
  schemaVersion: paymentViewSchemaVersion,
  schema: paymentViewSchema,
  fold: foldPaymentView,
  ownerOf: ({ payment }) => payment,
  reviewsSinceOf: ({ reviewsSince }) => reviewsSince,
  table: {
    name: 'payments',
    fixedColumns: ({ payment }) => termColumns(payment),
    changingColumns: ({ payment }) => ({
      ...stateColumns(payment),
      inquiry_need: inquiryNeedOf(payment) ?? null,
      account: payment.attempt.account,
      service_token: payment.serviceToken ?? null,
    }),
    phasesOf: (status) => paymentPhases.filter((phase) => statusOfPhase(phase) === status),
  },
};

export const payoutKind: ViewKind<PayoutView> = {
  name: 'payout',
  streamPrefix: payoutStreamPrefix,
  writtenEventType: 'PayoutViewWritten',
  schemaVersion: payoutViewSchemaVersion,
  schema: payoutViewSchema,
  fold: foldPayoutView,
  ownerOf: ({ payout }) => payout,
  reviewsSinceOf: ({ reviewsSince }) => reviewsSince,
  table: {
    name: 'payouts',
    fixedColumns: ({ payout }) => termColumns(payout),
    changingColumns: ({ payout }) => ({
      ...stateColumns(payout),
      inquiry_need: inquiryNeedOfPayout(payout) ?? null,
    }),
    phasesOf: (status) => payoutPhases.filter((phase) => statusOfPayoutPhase(phase) === status),
  },
};

export const disputeKind: ViewKind<DisputeView> = {
  name: 'dispute',
  streamPrefix: disputeStreamPrefix,
  writtenEventType: 'DisputeViewWritten',
  schemaVersion: disputeViewSchemaVersion,
  schema: disputeViewSchema,
  fold: foldDisputeView,
  ownerOf: ({ dispute }) => dispute,
  reviewsSinceOf: () => [],
  table: {
    name: 'disputes',
    fixedColumns: ({ dispute }) => ({ environment: dispute.environment }),
    changingColumns: (view) => ({
      team: view.dispute.team ?? null,
      opened_at: openedAtOf(view),
    }),
  },
};

export const viewKinds: readonly ViewKind[] = [paymentKind, payoutKind, disputeKind];

/** The versions of all documents in one text: whatever another one is written on holds documents that must be folded again. */
export const viewSchemaVersions = viewKinds
  .map(({ name, schemaVersion }) => `${name}:${schemaVersion}`)
  .join(' ');

/** Prefixes of the streams that documents of a generation are kept in. */
export const viewStreamPrefixesOf = (viewVersion: ViewVersion): string[] =>
  viewKinds.map(({ streamPrefix }) => viewStreamOf(streamPrefix, viewVersion));

/** The kind whose events a stream has. */
export const kindOfStream = (stream: string): ViewKind | undefined =>
  viewKinds.find(({ streamPrefix }) => stream.startsWith(streamPrefix));

/** The kind whose document a stream has. */
export const kindOfViewStream = (
  stream: string,
  viewVersion: ViewVersion = firstViewVersion,
): ViewKind | undefined =>
  viewKinds.find(({ streamPrefix }) => stream.startsWith(viewStreamOf(streamPrefix, viewVersion)));

interface Operation {
  environment: string;
  team: string;
  terms: { currency: string; orderNumber?: string | undefined };
  phase: string;
  reviews: readonly Review[];
}

const termColumns = ({ environment, team, terms }: Operation): Columns => ({
  environment,
  team,
  order_number: terms.orderNumber ?? null,
  currency: terms.currency,
});

const stateColumns = ({ phase, reviews }: Operation): Columns => ({
  phase,
  needs_review: reviews.length > 0 ? 1 : 0,
});
