/** A team's own notes on a payment, refund or payout. They have no effect. */
import { z } from 'zod';

/** Maximum number of entries, and maximum lengths of a name and a value in characters. */
export const metadataLimits = { entries: 50, name: 40, value: 500 } as const;

/** Size as JSON in bytes: it is in every record of the payment on the topic, and those must stay small. */
export const metadataBytesMax = 32_768;
/** Of all refunds of one payment together. */
export const refundsMetadataBytesMax = 65_536;

export const metadataSchema = z.record(
  z.string().max(metadataLimits.name),
  z.string().max(metadataLimits.value),
);
export type Metadata = z.infer<typeof metadataSchema>;

export const metadataBytes = (metadata: Metadata | undefined): number =>
  metadata === undefined ? 0 : new TextEncoder().encode(JSON.stringify(metadata)).length;
