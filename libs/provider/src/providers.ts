/** The providers that an account can be at, by the name that the account's configuration gives. */
import type { Provider } from '@tollgate/core';
import type { PaymentServiceClientOptions } from './payment-service/client-options.ts';
import { createPaymentService } from './payment-service/payment-service.ts';

/** How an account is reached. */
export type ProviderOptions = PaymentServiceClientOptions;

/** A further provider is a folder next to `payment-service/`, and a line here. */
export const providers = {
  'payment-service': createPaymentService,
} as const satisfies Record<string, (options: ProviderOptions) => Provider>;

export type ProviderName = keyof typeof providers;
export const providerNames = Object.keys(providers) as ProviderName[];
export const defaultProvider: ProviderName = 'payment-service';
