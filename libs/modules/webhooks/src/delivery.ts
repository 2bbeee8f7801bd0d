/** One attempt to deliver one webhook, signed by Standard Webhooks 1.0. */
import {
  type Clock,
  type Secret,
  type WebhookMasterSecret,
  omitUndefined,
  webhookSecretsOf,
  maskedText,
} from '@tollgate/service-kit';
import { Webhook as Signer } from 'standardwebhooks';
import { isLoopbackHost, type AddressGuard } from './address-guard.ts';
import { failureReasonOf, type WebhookClient } from './http-client.ts';
import type { FailureReason } from '@tollgate/gateway-api';
import { secretVersionsOf } from './endpoints/endpoint.ts';
import type { EndpointBook } from './endpoints/endpoint-book.ts';
import type { Webhook, Outcome } from './webhook-state.ts';

/** The cause of the webhook: a request id, if there was a request. */
const correlationHeader = 'tollgate-correlation-id';
/** As in the body, for receivers that route without reading it. */
const sequenceHeader = 'tollgate-sequence';
const timeHeader = 'tollgate-event-time';

/** Characters of a response body that are stored. */
const responseBodyMax = 1_000;
/** Timeout of an attempt. */
const tryTimeoutMs = 10_000;

export interface DeliveryDependencies {
  clock: Clock;
  client: WebhookClient;
  guard: AddressGuard;
  /** The master secrets from which the teams' secrets derive. */
  secrets: readonly WebhookMasterSecret[];
  /** Names of the team's current secrets for callback URLs, the newest first. @default the initial secret */
  secretVersionsOf?: (team: string, environment: string) => readonly string[];
  /** True if the team currently allows the origin of the URL. */
  isCallbackAllowed: (team: string, url: string) => boolean;
  book: Pick<EndpointBook, 'find'>;
}

/** The current destination of a webhook, and its signing secrets. */
interface Destination {
  url: string;
  versions: readonly string[];
}

/** Makes one attempt and returns its outcome; undefined if `stopping` aborted it, and then it does not count. */
export async function tryToDeliver(
  deps: DeliveryDependencies,
  webhook: Webhook,
  stopping: AbortSignal,
): Promise<Outcome | undefined> {
  const destination = await destinationOf(deps, webhook);
  if (destination === undefined) return { kind: 'abandoned' };
  const reason = refusalOf(deps, webhook.team, destination.url);
  if (reason !== undefined) return { kind: 'failed', reason };
  const begunAt = deps.clock.now();
  const took = () => Math.max(0, deps.clock.now() - begunAt);
  const ended = new AbortController();
  const tooLong = new AbortController();
  const signal = AbortSignal.any([stopping, tooLong.signal]);
  deps.clock.sleep(tryTimeoutMs, ended.signal).then(
    () => tooLong.abort(),
    () => undefined, // The attempt ended in time.
  );
  try {
    const { statusCode, body } = await deps.client.post(messageOf(deps, webhook, destination), signal);
    const responseBody = body === '' ? undefined : maskedText(body, responseBodyMax).toWellFormed();
    return { kind: 'answered', statusCode, durationMs: took(), ...omitUndefined({ responseBody }) };
  } catch (error) {
    if (stopping.aborted) return undefined;
    const why = tooLong.signal.aborted ? 'timeout' : failureReasonOf(error);
    return { kind: 'failed', reason: why, durationMs: took() };
  } finally {
    ended.abort();
  }
}

/** Undefined if the endpoint is now disabled or removed: missed webhooks are replayed by hand. @throws StoreUnavailable */
async function destinationOf(deps: DeliveryDependencies, webhook: Webhook): Promise<Destination | undefined> {
  const { environment, team, url, endpoint: id } = webhook;
  if (id === undefined) return { url, versions: deps.secretVersionsOf?.(team, environment) ?? [''] };
  const endpoint = await deps.book.find({ environment, team }, id);
  if (endpoint === undefined || endpoint.disabled !== undefined) return undefined;
  return { url: endpoint.url, versions: secretVersionsOf(endpoint, deps.clock.now()) };
}

/** Why an address may not be called. Checked at every attempt, because a team may change its allowed origins. */
function refusalOf(
  { isCallbackAllowed, guard }: DeliveryDependencies,
  team: string,
  url: string,
): FailureReason | undefined {
  const parsed = URL.parse(url);
  if (parsed === null || !isCallbackAllowed(team, url)) return 'origin_not_allowed';
  const { protocol, hostname } = parsed;
  const isSafe = protocol === 'https:' || (protocol === 'http:' && isLoopbackHost(hostname));
  if (!isSafe) return 'origin_not_allowed';
  return guard.isHostAllowed(hostname) ? undefined : 'address_not_allowed';
}

function messageOf(
  { clock, secrets }: DeliveryDependencies,
  webhook: Webhook,
  { url, versions }: Destination,
) {
  const { id, environment, team } = webhook;
  const { sequence, occurredAt } = webhook.body;
  const body = JSON.stringify(webhook.body);
  const signing = webhookSecretsOf(secrets, environment, team, versions);
  const signed = webhookHeaders({ id, body }, signing, clock.now());
  const headers = {
    'content-type': 'application/json',
    'user-agent': 'tollgate',
    ...omitUndefined({ [correlationHeader]: webhook.correlationId }),
    ...omitUndefined({ [sequenceHeader]: sequence?.toString(), [timeHeader]: occurredAt }),
    ...signed,
  };
  return { url, headers, body };
}

/** One signature per secret, over the id, the time of the attempt and the exact bytes of the body. */
export function webhookHeaders(
  message: { id: string; body: string },
  secrets: readonly Secret[],
  now: number,
): Record<string, string> {
  const signatures = secrets.map((secret) =>
    new Signer(secret.reveal()).sign(message.id, new Date(now), message.body),
  );
  return {
    'webhook-id': message.id,
    'webhook-timestamp': String(Math.floor(now / 1_000)),
    'webhook-signature': signatures.join(' '),
  };
}
