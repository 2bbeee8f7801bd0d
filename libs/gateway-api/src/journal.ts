/** The ledger as teams see it: entries of the journal, statements and balances. */
import { environmentSchema } from '@tollgate/core';
import { z } from 'zod';
import { entryKinds, ledgerAccounts, type KeptEntry, type LedgerAccount } from '@tollgate/books';
import { oneOf, onTopics, showing, shownBy } from './public-object.ts';
import { refundToken } from './refund.ts';
import { currency, example, instant } from './values.ts';

/** Minor units, below zero as well. */
const signed = shownBy(
  z.int().meta({
    description: 'Minor units: 1250 is 12.50 EUR. Negative if money leaves.',
    examples: [1250],
  }),
  Number,
);

const meanings: Readonly<Record<LedgerAccount, string>> = {
  customers: 'Money that customers have paid (negative), minus money returned to them.',
  available: 'Can be paid out or refunded.',
  reserved: 'Reserved for refunds and payouts without an outcome, and for payouts that await approval.',
  disputed: 'Reserved for open disputes and discrepancies.',
  paidOut: 'Left by payouts.',
  lost: 'Lost in disputes.',
  adopted: 'Money of adopted payments that no operator has declared payable.',
  transferred: 'Transferred to other wallets, or from them (negative).',
};

/** Balances by ledger account. They sum to zero. */
export const ledgerAmounts = z.object(
  Object.fromEntries(
    ledgerAccounts.map((name) => [name, z.int().describe(`${meanings[name]} Minor units.`)]),
  ) as Record<LedgerAccount, z.ZodInt>,
);

const holder = {
  wallet: z.string().meta({
    description: 'The wallet: `team-<team>` if the team has it alone, `wallet-<name>` if it is shared.',
    examples: ['team-shop'],
  }),
  account: z.string().meta({ description: 'The merchant account that has the money.', examples: ['main'] }),
  currency,
};

const posting = z.object({ ledgerAccount: oneOf(ledgerAccounts, 'The ledger account.'), amount: signed });

export const publicJournalEntry = z.object({
  id: z.string().meta({
    description: 'The entry: the id of its event and its number among the entries of that event.',
    examples: ['3f0e9d5c-7a2b-4c1d-8e6f-0a1b2c3d4e5f.0'],
  }),
  time: instant,
  kind: oneOf(entryKinds, 'Kind of the entry.'),
  eventType: z.string().meta({ description: 'The event that caused it.', examples: ['PaymentApproved'] }),
  token: z
    .string()
    .meta({ description: 'The payment, payout or transfer.', examples: [example.paymentToken] }),
  refundToken: refundToken.exactOptional(),
  disputeToken: z.string().exactOptional().describe('The dispute.'),
  ...holder,
  postings: z.array(posting).describe('They sum to zero.'),
});
export type PublicJournalEntry = z.infer<typeof publicJournalEntry>;

/** As on the topic, which has the entries of all teams. */
export const journalEntryOnTopic = onTopics(
  z.object({
    ...publicJournalEntry.shape,
    environment: oneOf(environmentSchema.options, 'The environment.'),
    team: z
      .string()
      .exactOptional()
      .describe('The team that moved the money. Absent if an operator moved it in a shared wallet.'),
  }),
);
export type JournalEntryOnTopic = z.infer<typeof journalEntryOnTopic>;

export const exampleJournalEntry: JournalEntryOnTopic = {
  id: '3f0e9d5c-7a2b-4c1d-8e6f-0a1b2c3d4e5f.0',
  time: example.instant,
  kind: 'payment',
  eventType: 'PaymentApproved',
  token: example.paymentToken,
  wallet: 'team-shop',
  account: 'main',
  currency: 'EUR',
  postings: [
    { ledgerAccount: 'customers', amount: -1250 },
    { ledgerAccount: 'available', amount: 1250 },
  ],
  environment: 'sandbox',
  team: 'shop',
};

const sourceOf = ({ eventId, number, subject, part, at, kind, postings, ...entry }: KeptEntry) => ({
  ...entry,
  id: `${eventId}.${number}`,
  time: at,
  kind,
  token: subject,
  refundToken: kind === 'refund' ? part : undefined,
  disputeToken: kind === 'dispute' ? part : undefined,
  postings: postings.map(([ledgerAccount, amount]) => ({ ledgerAccount, amount })),
});

const show = showing(publicJournalEntry);
const showOnTopic = showing(journalEntryOnTopic);

export const toPublicJournalEntry = (entry: KeptEntry): PublicJournalEntry => show(sourceOf(entry));

export const toJournalEntryOnTopic = (entry: KeptEntry): JournalEntryOnTopic => showOnTopic(sourceOf(entry));

/** A month of one wallet, merchant account and currency. */
export const statementSchema = z.object({
  ...holder,
  opening: ledgerAmounts,
  entries: z
    .array(z.object({ kind: oneOf(entryKinds, 'Kind of the entry.'), amounts: ledgerAmounts }))
    .describe('Sums by kind. The opening and these sums give the closing.'),
  closing: ledgerAmounts,
});

export const walletBalanceSchema = z.object({ ...holder, amounts: ledgerAmounts });
