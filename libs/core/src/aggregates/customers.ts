/**
 * Customer data of a payment (stream `customer-<payment token>`): encrypted, and kept only while another attempt of the
 * creation may have to send it. It is erased by deleting the stream.
 */
import { type EventStore, StoreUnavailable } from '@tollgate/event-store';
import { type Actor, type EventMetadata } from '../domain/event-metadata.ts';
import { firstSchemaVersion } from '../domain/schema-version.ts';
import { paymentStream } from '../domain/payment/payment-events.ts';
import { type Clock, type Ids, type Log, type Vault, errorCode } from '@tollgate/service-kit';
import type { Cause } from './repository.ts';
import { z } from 'zod';

export const customerKeptSchema = z.object({ sealedCustomer: z.string() });
type CustomerKept = z.infer<typeof customerKeptSchema>;

export const customerSchema = z.object({ email: z.string().optional(), ip: z.string().optional() });
type Customer = z.infer<typeof customerSchema>;

export const customerKept = 'CustomerKept';
export const customerStream = (paymentToken: string): string => `customer-${paymentToken}`;

export interface Customers {
  /** Stores it, encrypted, unless it was erased before. @throws StoreUnavailable */
  keep(paymentToken: string, customer: Customer, cause: Cause): Promise<void>;
  /** Undefined if nothing is stored, it was erased, or its data secret is retired. @throws StoreUnavailable */
  find(paymentToken: string): Promise<Customer | undefined>;
  /**
   * Erases the stored data, if any. If the store fails now, an inquiry about the final payment erases it later; nothing waits
   * for that.
   */
  release(paymentToken: string): Promise<void>;
}

export function createCustomers(deps: {
  store: EventStore;
  vault: Vault;
  clock: Clock;
  ids: Ids;
  log: Log;
}): Customers {
  const { store, vault, clock, ids, log } = deps;
  return {
    async keep(paymentToken, customer, cause) {
      const stream = customerStream(paymentToken);
      const data: CustomerKept = { sealedCustomer: await vault.seal(JSON.stringify(customer), stream) };
      const metadata: EventMetadata = {
        schemaVersion: firstSchemaVersion,
        ...cause,
        recordedAt: clock.now(),
      };
      // Existing data is the same: another attempt sends what the first one sent.
      await store
        .append(stream, [{ id: ids.uuid(), type: customerKept, data, metadata }], 'no-stream')
        .catch(unlessForgotten);
    },
    async find(paymentToken) {
      const stream = customerStream(paymentToken);
      for await (const { data } of store.read(stream, { limit: 1 })) {
        const { sealedCustomer } = customerKeptSchema.parse(data);
        const opened = await vault.open(sealedCustomer, stream).catch(unlessRetired);
        return opened === undefined ? undefined : customerSchema.parse(JSON.parse(opened));
      }
      return undefined;
    },
    async release(paymentToken) {
      try {
        if (await isCustomerKept(store, paymentToken)) await forgetCustomer(store, paymentToken);
      } catch (error) {
        if (!(error instanceof StoreUnavailable)) throw error;
        log.warn({ token: paymentToken, error }, 'customer data could not be erased yet');
      }
    },
  };
}

function unlessForgotten(error: unknown): void {
  if (errorCode(error) !== 'stream_removed') throw error;
}

/** Without its secret the data is lost, and the payment must proceed. */
function unlessRetired(error: unknown): undefined {
  if (errorCode(error) !== 'key_unknown') throw error;
}

export async function isCustomerKept(store: EventStore, paymentToken: string): Promise<boolean> {
  for await (const _ of store.read(customerStream(paymentToken), { limit: 1 })) return true;
  return false;
}

/** Permanent: data still under way in any process is not stored either. @throws StoreUnavailable */
export const forgetCustomer = (store: EventStore, paymentToken: string): Promise<void> =>
  store.remove(customerStream(paymentToken), { erase: true });

export interface ForgetDependencies {
  store: EventStore;
  clock: Pick<Clock, 'now'>;
  ids: Pick<Ids, 'uuid'>;
}

/**
 * Makes the stored customer data of a payment unreadable, and records when and by whom, as proof for the requester. It does
 * so even if nothing is stored: a process that still waits for an answer stores nothing afterwards.
 *
 * @returns whether anything was stored
 * @throws StoreUnavailable: retry
 */
export async function forgetCustomerOf(
  { store, clock, ids }: ForgetDependencies,
  paymentToken: string,
  actor: Actor,
): Promise<boolean> {
  const wasKept = await isCustomerKept(store, paymentToken);
  await forgetCustomer(store, paymentToken);
  const metadata = { schemaVersion: firstSchemaVersion, recordedAt: clock.now(), actor };
  const event = { id: ids.uuid(), type: 'CustomerForgotten', data: { paymentToken }, metadata };
  await store.append('customers-forgotten', [event], 'any');
  return wasKept;
}

/** Other places that keep copies of the texts. None of them is erased with the customer. */
export const remainingPlaces: readonly string[] = [
  'the payment, its view, the indexes and the event feed',
  'the topic gateway.payments.v1',
  'webhooks and CSV files of this payment, and backups',
  'the Payment Service',
];

const namesOfTexts: ReadonlySet<string> = new Set([
  ...['orderNumber', 'product', 'callbackUrl', 'redirectSuccessUrl', 'redirectFailUrl', 'locale'],
  ...['sanitizedMask', 'declineReason', 'reason', 'comment'],
]);

/**
 * Texts of the team, of people and of the provider in the events of a payment, by name; the latest of each name. Read from
 * the raw events, so that every kind of event counts.
 *
 * @throws StoreUnavailable
 */
export async function remainingTexts(
  store: EventStore,
  paymentToken: string,
): Promise<Record<string, string>> {
  const texts = new Map<string, string>();
  const collect = (fields: object, isMetadata: boolean): void => {
    for (const [name, value] of Object.entries(fields) as [string, unknown][]) {
      if (typeof value === 'object' && value !== null) collect(value, name === 'metadata');
      else if (typeof value === 'string' && (isMetadata || namesOfTexts.has(name)))
        texts.set(isMetadata ? `metadata.${name}` : name, value);
    }
  };
  for await (const { data } of store.read(paymentStream(paymentToken))) collect(data as object, false);
  return Object.fromEntries(texts);
}
