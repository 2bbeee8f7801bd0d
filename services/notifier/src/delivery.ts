/** One attempt to deliver one webhook. */
import { given, webhookSecretsOf, type Clock, type WebhookMasterSecret } from '@tollgate/service-kit';
import { isLoopbackHost, type AddressGuard } from './address-guard.ts';
import { failureReasonOf, type WebhookClient } from './http-client.ts';
import type { FailureReason } from '@tollgate/gateway-api';
import type { Webhook, Outcome } from './webhook-state.ts';
import { webhookHeaders } from './signature.ts';

/** Names what the webhook was caused by: the id of a request, where it was one. */
const correlationHeader = 'tollgate-correlation-id';

/** An attempt without an answer within this time has failed. */
const tryTimeoutMs = 10_000;

export interface DeliveryDependencies {
  clock: Clock;
  client: WebhookClient;
  guard: AddressGuard;
  /** The master secrets from which the teams' secrets derive. */
  secrets: readonly WebhookMasterSecret[];
  /** Names of the team's secrets for an origin now, the current one first; what it begins with unless given. */
  secretVersionsOf?: (team: string, endpoint: { environment: string; origin: string }) => readonly string[];
  /** Whether the team currently allows the origin of the URL. */
  isCallbackAllowed: (team: string, url: string) => boolean;
}

/** Makes one attempt and returns its outcome; undefined if `stopping` aborted it, and then it does not count. */
export async function tryToDeliver(
  deps: DeliveryDependencies,
  webhook: Webhook,
  stopping: AbortSignal,
): Promise<Outcome | undefined> {
  const reason = refusalOf(deps, webhook);
  if (reason !== undefined) return { kind: 'failed', reason };
  const ended = new AbortController();
  const tooLong = new AbortController();
  const signal = AbortSignal.any([stopping, tooLong.signal]);
  deps.clock.sleep(tryTimeoutMs, ended.signal).then(
    () => tooLong.abort(),
    () => undefined, // The attempt ended in time.
  );
  try {
    const statusCode = await deps.client.post(messageOf(deps, webhook), signal);
    return { kind: 'answered', statusCode };
  } catch (error) {
    if (stopping.aborted) return undefined;
    return { kind: 'failed', reason: tooLong.signal.aborted ? 'timeout' : failureReasonOf(error) };
  } finally {
    ended.abort();
  }
}

/** Why an address may not be called. Checked at every attempt, because a team may change its allowed origins. */
function refusalOf(
  { isCallbackAllowed, guard }: DeliveryDependencies,
  { team, url }: Webhook,
): FailureReason | undefined {
  const parsed = URL.parse(url);
  if (parsed === null || !isCallbackAllowed(team, url)) return 'origin_not_allowed';
  const { protocol, hostname } = parsed;
  const isSafe = protocol === 'https:' || (protocol === 'http:' && isLoopbackHost(hostname));
  if (!isSafe) return 'origin_not_allowed';
  return guard.isHostAllowed(hostname) ? undefined : 'address_not_allowed';
}

function messageOf(
  { clock, secrets, secretVersionsOf = () => [''] }: DeliveryDependencies,
  webhook: Webhook,
) {
  const { id, environment, team, url } = webhook;
  const body = JSON.stringify(webhook.body);
  const versions = secretVersionsOf(team, { environment, origin: new URL(url).origin });
  const signing = webhookSecretsOf(secrets, environment, team, versions);
  const signed = webhookHeaders({ id, body }, signing, clock.now());
  const headers = {
    ...{ 'content-type': 'application/json', 'user-agent': 'tollgate' },
    ...given({ [correlationHeader]: webhook.correlationId }),
    ...signed,
  };
  return { url, headers, body };
}
