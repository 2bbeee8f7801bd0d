/**
 * Customer data of a payment (stream `customer-<payment token>`): encrypted, and kept only while another attempt of the
 * creation may have to send it. It is erased by deleting the stream.
 */
import { z } from 'zod';

export const customerKeptSchema = z.object({ sealedCustomer: z.string() });
export type CustomerKept = z.infer<typeof customerKeptSchema>;

export const customerSchema = z.object({ email: z.string().optional(), ip: z.string().optional() });
export type Customer = z.infer<typeof customerSchema>;

export const customerKept = 'CustomerKept';
export const customerStream = (paymentToken: string): string => `customer-${paymentToken}`;
