/** The requests of the operations. Amounts are in minor units. */
import type { Metadata } from '../domain/metadata.ts';
import type { PayOutDestination } from '../provider.ts';

export interface PaymentRequest {
  product: string;
  amount: number;
  /** ISO 4217 alphabetic code. */
  currency: string;
  orderNumber?: string | undefined;
  callbackUrl?: string | undefined;
  redirectSuccessUrl?: string | undefined;
  redirectFailUrl?: string | undefined;
  /** BCP 47 language tag. */
  locale?: string | undefined;
  /** True if the money is authorized now, and captured or voided later. */
  needConfirmation?: boolean | undefined;
  /** True if the card is to be stored. */
  recurring?: boolean | undefined;
  /** The alias of a stored card to charge. */
  recurringToken?: string | undefined;
  /** Held in memory only. */
  card?: { pan: string; expires: string; holder: string; cvv: string } | undefined;
  customer?: { email?: string | undefined; ip?: string | undefined } | undefined;
  metadata?: Metadata | undefined;
}

export interface RefundRequest {
  token: string;
  /** Default: everything that is left. */
  amount?: number | undefined;
  metadata?: Metadata | undefined;
}

export interface PayoutRequest {
  amount: number;
  /** ISO 4217 alphabetic code. */
  currency: string;
  orderNumber: string;
  destination: PayOutDestination;
  callbackUrl?: string | undefined;
  metadata?: Metadata | undefined;
}
