/** One try to deliver one notification. */
import { notificationSecretsOf, type Clock, type NotificationMasterSecret } from '@tollgate/service-kit';
import { isLoopbackHost, type AddressGuard } from './address-guard.ts';
import { failureReasonOf, type NotificationClient } from './http-client.ts';
import type { FailureReason } from './notification-events.ts';
import type { Notification, Outcome } from './notification-state.ts';
import { webhookHeaders } from './signature.ts';

/** A try without an answer in this time has failed. */
export const tryTimeoutMs = 10_000;

export interface DeliveryDependencies {
  clock: Clock;
  client: NotificationClient;
  guard: AddressGuard;
  /** The masters of the teams' secrets. */
  secrets: readonly NotificationMasterSecret[];
  /** Whether a team's entry in the directory allows an address, now. */
  isCallbackAllowed: (team: string, url: string) => boolean;
}

/** Tries once and gives what became of it; undefined where `stopping` broke it off, and then it counts for nothing. */
export async function tryToDeliver(
  deps: DeliveryDependencies,
  notification: Notification,
  stopping: AbortSignal,
): Promise<Outcome | undefined> {
  const reason = refusalOf(deps, notification);
  if (reason !== undefined) return { kind: 'failed', reason };
  const ended = new AbortController();
  const tooLong = new AbortController();
  const signal = AbortSignal.any([stopping, tooLong.signal]);
  deps.clock.sleep(tryTimeoutMs, ended.signal).then(
    () => tooLong.abort(),
    () => undefined, // The try has ended in time.
  );
  try {
    const statusCode = await deps.client.post(messageOf(deps, notification), signal);
    return { kind: 'answered', statusCode };
  } catch (error) {
    if (stopping.aborted) return undefined;
    return { kind: 'failed', reason: tooLong.signal.aborted ? 'timeout' : failureReasonOf(error) };
  } finally {
    ended.abort();
  }
}

/** Why an address may not be called: asked at every try, because a team may change what it allows. */
function refusalOf(
  { isCallbackAllowed, guard }: DeliveryDependencies,
  { team, url }: Notification,
): FailureReason | undefined {
  const parsed = URL.parse(url);
  if (parsed === null || !isCallbackAllowed(team, url)) return 'origin_not_allowed';
  const { protocol, hostname } = parsed;
  const isSafe = protocol === 'https:' || (protocol === 'http:' && isLoopbackHost(hostname));
  if (!isSafe) return 'origin_not_allowed';
  return guard.isHostAllowed(hostname) ? undefined : 'address_not_allowed';
}

function messageOf({ clock, secrets }: DeliveryDependencies, notification: Notification) {
  const { id, environment, team, url } = notification;
  const body = JSON.stringify(notification.body);
  const signed = webhookHeaders({ id, body }, notificationSecretsOf(secrets, environment, team), clock.now());
  const headers = { 'content-type': 'application/json', 'user-agent': 'tollgate', ...signed };
  return { url, headers, body };
}
