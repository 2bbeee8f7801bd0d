/** The notifier on a store, and its recorded events, for specs. */
import type { EventStore } from '@tollgate/event-store';
import type { PaymentEvent } from '@tollgate/core';
import { appendPayment, happening } from '@tollgate/views/testing';
import {
  dayMs,
  once,
  webhookSecretsOf,
  parseWebhookSecrets,
  silentLog,
  systemClock,
  systemIds,
} from '@tollgate/service-kit';
import type { Received, Receiver } from '@tollgate/testing';
import { Webhook as Verifier } from 'standardwebhooks';
import { onTestFinished } from 'vitest';
import { openDeliveries } from '../deliveries.ts';
import { createWebhookJournal } from '../webhook-journal.ts';
import type { Webhook } from '../webhook-state.ts';
import { runNotifier, type NotifierDependencies } from '../notifier.ts';
import { requestedWithCallback } from './subjects.ts';

export const masterText = `k1:${'m'.repeat(32)}`;
const secrets = parseWebhookSecrets(masterText);

/** No jitter, so that a spec knows when an attempt is due. */
const ids = { ...systemIds, fraction: () => 0 };

/** Runs a notifier until the test ends. */
export function start(store: EventStore, options: Partial<NotifierDependencies> = {}) {
  const stopping = new AbortController();
  const defaults = { clock: systemClock, ids, log: silentLog, secrets, isCallbackAllowed: () => true };
  const { clock, log } = { ...defaults, ...options };
  const listing = { store, file: ':memory:', clock, ids, log, retentionMs: 30 * dayMs };
  const deliveries = openDeliveries(listing);
  const running = runNotifier({ store, deliveries, ...defaults, ...options }, stopping.signal);
  const stop = once(async () => {
    stopping.abort();
    await running;
    await deliveries.stop();
  });
  onTestFinished(stop);
  return { stop };
}

/** A payment whose first status changes by these events. */
export async function pay(
  store: EventStore,
  receiver: Pick<Receiver, 'url'>,
  { token = 'pay_1', team = 'shop', events = [happening.pending] as readonly PaymentEvent[] } = {},
): Promise<void> {
  const first = requestedWithCallback(receiver.url, { team });
  await appendPayment(store, token, [first, happening.accepted, ...events]);
}

export async function webhooksOf(store: EventStore, token = 'pay_1'): Promise<readonly Webhook[]> {
  const journal = createWebhookJournal({ store, clock: systemClock, ids: systemIds });
  return (await journal.load(token)).state.webhooks;
}

export const statesOf = async (store: EventStore, token?: string) =>
  (await webhooksOf(store, token)).map(({ state }) => state);

export const sentTo = ({ received }: Receiver) => received.map(({ body }) => `${body.type} ${body.status}`);

export const verifierOf = (team: string, version = '') =>
  new Verifier(webhookSecretsOf(secrets, 'sandbox', team, [version])[0]?.reveal() ?? '');

/** A request as decoded by the public library, which throws if the signature is wrong. */
export function verify({ text, headers }: Received, verifier: Verifier): unknown {
  return verifier.verify(text, headers as Record<string, string>);
}
