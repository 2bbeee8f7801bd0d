/** The topics of Tollgate, as created on Kafka. The embedded bus creates a topic on first use. */
import { dayMs } from '@tollgate/service-kit';
import {
  gatewayDisputesTopic,
  gatewayJournalTopic,
  gatewayPaymentsTopic,
  gatewayPayoutsTopic,
} from './records.ts';
import { providerCallbacksTopic } from './callback-records.ts';

export interface GatewayTopic {
  topic: string;
  /** Fixed for the life of the topic: the order of a key's records depends on it. */
  partitions: number;
  /** How long a record is kept, milliseconds. */
  retentionMs: number | 'forever';
  /** How old records are removed. Never `compact`: each record is its own fact, not the last state of its key. */
  cleanup: 'delete';
}

const ofDays = (days: number) => ({ retentionMs: days * dayMs, cleanup: 'delete' }) as const;
// A new consumer begins at the very first record.
const history = { partitions: 12, retentionMs: 'forever', cleanup: 'delete' } as const;

export const gatewayTopics: readonly GatewayTopic[] = [
  { topic: gatewayPaymentsTopic, ...history },
  { topic: gatewayPayoutsTopic, ...history },
  { topic: gatewayDisputesTopic, ...history },
  { topic: gatewayJournalTopic, ...history },
  // A callback is only a hint: the inquiry schedule covers its payment without it.
  { topic: providerCallbacksTopic, partitions: 12, ...ofDays(7) },
];
