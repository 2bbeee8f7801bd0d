/** The topics that Tollgate uses, as they are made on Kafka. On the embedded bus topics come to be when they are used. */
import { providerCallbacksDlqTopic, providerCallbacksTopic } from './callback-records.ts';
import { gatewayDisputesTopic } from './dispute-records.ts';
import { gatewayPaymentsTopic } from './payment-records.ts';
import { gatewayPayoutsTopic } from './payout-records.ts';

export interface GatewayTopic {
  topic: string;
  /** Fixed for as long as the topic lives: the order of a key's records depends on it. */
  partitions: number;
  /** How long a record is kept, milliseconds. */
  retentionMs: number | 'forever';
  /** What becomes of old records. Never `compact`: each record is a fact of its own, not the last state of its key. */
  cleanup: 'delete';
}

const dayMs = 86_400_000;
const ofDays = (days: number) => ({ retentionMs: days * dayMs, cleanup: 'delete' }) as const;
// A new consumer begins with the first record of all.
const history = { partitions: 12, retentionMs: 'forever', cleanup: 'delete' } as const;

export const gatewayTopics: readonly GatewayTopic[] = [
  { topic: gatewayPaymentsTopic, ...history },
  { topic: gatewayPayoutsTopic, ...history },
  { topic: gatewayDisputesTopic, ...history },
  // A callback is a hint only: its payment is followed up without it, too.
  { topic: providerCallbacksTopic, partitions: 12, ...ofDays(7) },
  // Somebody has to look at these, who may be on holiday.
  { topic: providerCallbacksDlqTopic, partitions: 1, ...ofDays(90) },
];
