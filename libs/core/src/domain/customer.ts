/**
 * What a team sent about a payment's customer (stream `customer-<payment token>`): kept encrypted, and only where a further
 * attempt of the creation may have to send it again. To forget it is to remove the stream.
 */
import { z } from 'zod';

export const customerKeptSchema = z.object({ sealedCustomer: z.string() });
export type CustomerKept = z.infer<typeof customerKeptSchema>;

export const customerSchema = z.object({ email: z.string().optional(), ip: z.string().optional() });
export type Customer = z.infer<typeof customerSchema>;

export const customerKept = 'CustomerKept';
export const customerStream = (paymentToken: string): string => `customer-${paymentToken}`;
