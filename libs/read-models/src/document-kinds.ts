/** The kinds of documents: one description each, from which projector and index do the rest. */
import {
  disputeStreamPrefix,
  openWorkOf,
  openWorkOfPayout,
  paymentPhases,
  paymentStreamPrefix,
  payoutPhases,
  payoutStreamPrefix,
  statusOfPayoutPhase,
  statusOfPhase,
  type Attention,
} from '@tollgate/payment-domain';
import type { Columns, DocumentKind } from './document-kind.ts';
import {
  disputeDocumentSchema,
  disputeDocumentVersion,
  foldDisputeDocument,
  openedAtOf,
  type DisputeDocument,
} from './dispute-document.ts';
import {
  foldPaymentDocument,
  paymentDocumentSchema,
  paymentDocumentVersion,
  type PaymentDocument,
} from './payment-document.ts';
import {
  foldPayoutDocument,
  payoutDocumentSchema,
  payoutDocumentVersion,
  type PayoutDocument,
} from './payout-document.ts';
import { firstGeneration, viewStreamOf, type Generation } from './view-streams.ts';

export const paymentKind: DocumentKind<PaymentDocument> = {
  name: 'payment',
  streamPrefix: paymentStreamPrefix,
  writtenEventType: 'PaymentDocumentWritten',
  schemaVersion: paymentDocumentVersion,
  schema: paymentDocumentSchema,
  fold: foldPaymentDocument,
  ownerOf: ({ payment }) => payment,
  attentionSinceOf: ({ attentionSince }) => attentionSince,
  table: {
    name: 'payments',
    fixedColumns: ({ payment }) => termColumns(payment),
    changingColumns: ({ payment }) => ({
      ...stateColumns(payment),
      open_work: openWorkOf(payment) ?? null,
      account: payment.attempt.account,
      service_token: payment.serviceToken ?? null,
    }),
    phasesOf: (status) => paymentPhases.filter((phase) => statusOfPhase(phase) === status),
  },
};

export const payoutKind: DocumentKind<PayoutDocument> = {
  name: 'payout',
  streamPrefix: payoutStreamPrefix,
  writtenEventType: 'PayoutDocumentWritten',
  schemaVersion: payoutDocumentVersion,
  schema: payoutDocumentSchema,
  fold: foldPayoutDocument,
  ownerOf: ({ payout }) => payout,
  attentionSinceOf: ({ attentionSince }) => attentionSince,
  table: {
    name: 'payouts',
    fixedColumns: ({ payout }) => termColumns(payout),
    changingColumns: ({ payout }) => ({
      ...stateColumns(payout),
      open_work: openWorkOfPayout(payout) ?? null,
    }),
    phasesOf: (status) => payoutPhases.filter((phase) => statusOfPayoutPhase(phase) === status),
  },
};

export const disputeKind: DocumentKind<DisputeDocument> = {
  name: 'dispute',
  streamPrefix: disputeStreamPrefix,
  writtenEventType: 'DisputeDocumentWritten',
  schemaVersion: disputeDocumentVersion,
  schema: disputeDocumentSchema,
  fold: foldDisputeDocument,
  ownerOf: ({ dispute }) => dispute,
  attentionSinceOf: () => [],
  table: {
    name: 'disputes',
    fixedColumns: ({ dispute }) => ({ environment: dispute.environment }),
    changingColumns: (document) => ({
      team: document.dispute.team ?? null,
      opened_at: openedAtOf(document),
    }),
  },
};

export const documentKinds: readonly DocumentKind[] = [paymentKind, payoutKind, disputeKind];

/** The versions of all documents in one text: whatever another one is written on holds documents that must be folded again. */
export const documentVersions = documentKinds
  .map(({ name, schemaVersion }) => `${name}:${schemaVersion}`)
  .join(' ');

/** Prefixes of the streams that documents of a generation are kept in. */
export const viewStreamPrefixesOf = (generation: Generation): string[] =>
  documentKinds.map(({ streamPrefix }) => viewStreamOf(streamPrefix, generation));

/** The kind whose events a stream has. */
export const kindOfStream = (stream: string): DocumentKind | undefined =>
  documentKinds.find(({ streamPrefix }) => stream.startsWith(streamPrefix));

/** The kind whose document a stream has. */
export const kindOfViewStream = (
  stream: string,
  generation: Generation = firstGeneration,
): DocumentKind | undefined =>
  documentKinds.find(({ streamPrefix }) => stream.startsWith(viewStreamOf(streamPrefix, generation)));

interface Operation {
  environment: string;
  team: string;
  terms: { currency: string; orderNumber?: string | undefined };
  phase: string;
  attention: readonly Attention[];
}

const termColumns = ({ environment, team, terms }: Operation): Columns => ({
  environment,
  team,
  order_number: terms.orderNumber ?? null,
  currency: terms.currency,
});

const stateColumns = ({ phase, attention }: Operation): Columns => ({
  phase,
  attention: attention.length > 0 ? 1 : 0,
});
