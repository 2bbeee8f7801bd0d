/** What a webhook says is what was on record with the event that it tells of: the status, and the sum. */
import type { RecordedEvent } from '@tollgate/event-store';
import type { Books, OperationOnRecord } from './books.ts';
import { readWebhook } from '../people/webhooks.ts';
import type { World } from '../world.ts';

interface Told {
  status: string;
  amount: number;
}

export interface WebhookContents {
  /** After the books have it. */
  onRecorded(event: RecordedEvent): void;
  requireTrue(body: string): void;
}

export function createWebhookContents({
  books,
  complain,
}: {
  books: Books;
  complain: World['complain'];
}): WebhookContents {
  /** Of payments, payouts and refunds, by token and event. */
  const told = new Map<string, Told>();
  return {
    onRecorded: ({ stream, revision }) => {
      const operation = books.find(stream.replace(/^(payment|payout)-/, ''));
      if (operation === undefined) return;
      const { token, kind, amount, approvedAmount, phase, refunds } = operation;
      told.set(`${token} ${revision}`, {
        status: statusOf(phase),
        // Where nothing is taken, what was asked for.
        amount: kind === 'payment' && isTaken.has(phase) ? approvedAmount : amount,
      });
      for (const [refundToken, { state, amount: sum }] of refunds)
        told.set(`${refundToken} ${revision}`, { status: state, amount: sum });
    },
    requireTrue: (body) => {
      const { token, sequence, status, amount, line } = readWebhook(body);
      const there = told.get(`${token} ${sequence}`);
      if (there?.status !== status || there.amount !== amount)
        complain(
          'webhooks',
          `${line} says ${amount}, and on record it is ${there?.status} over ${there?.amount}`,
        );
    },
  };
}

const isTaken = new Set(['approved', 'refunded']);

const statuses: Record<string, string> = {
  requested: 'init',
  unresolved: 'init',
  authorized: 'pending',
  capturing: 'pending',
  voiding: 'pending',
  awaiting_approval: 'pending',
  approval_granted: 'pending',
  voided: 'declined',
  failed: 'declined',
};

const statusOf = (phase: OperationOnRecord['phase']): string => statuses[phase] ?? phase;
