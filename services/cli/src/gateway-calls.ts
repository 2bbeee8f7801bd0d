/** Calls to a running gateway as its demo team, for `npm run demo` and `npm run sandbox -- fund`. */
import { StartupError, systemClock } from '@tollgate/service-kit';
import { request } from 'undici';
import type { z } from 'zod';
import type { Quickstart } from '@tollgate/gateway/configuration';

const settleWithinMs = 10_000;
const askEveryMs = 20;

const noKey =
  'The demo team has no key: issue one (npm run tollgate -- key issue demo --help), and put it into quickstart.json as apiKey.';

interface GatewayCall {
  method: 'GET' | 'POST';
  path: string;
  body?: unknown;
}

/** @throws StartupError if the gateway does not answer, or not with 200 */
export type CallGateway = <Schema extends z.ZodType>(
  schema: Schema,
  options: GatewayCall,
) => Promise<z.infer<Schema>>;

/** @throws StartupError if the demo team has no key */
export function createGatewayCalls({
  gatewayUrl,
  apiKey,
}: Pick<Quickstart, 'gatewayUrl' | 'apiKey'>): CallGateway {
  if (apiKey === undefined) throw new StartupError('no_key', noKey);
  return async (schema, { method, path, body }) => {
    const headers = { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' };
    const sent = body === undefined ? {} : { body: JSON.stringify(body) };
    const response = await request(`${gatewayUrl}${path}`, { method, headers, ...sent }).catch(
      (error: unknown) => {
        const message = `The gateway does not answer at ${gatewayUrl}: run npm start in another terminal first.`;
        throw new StartupError('not_running', message, { cause: error });
      },
    );
    const text = await response.body.text();
    if (response.statusCode !== 200)
      throw new StartupError(
        'gateway_refused',
        `${method} ${path} was answered with HTTP ${response.statusCode}: ${text}`,
      );
    return schema.parse(JSON.parse(text));
  };
}

/** Polls until a condition holds. @throws StartupError on timeout */
export async function untilApproved(ask: () => Promise<string | undefined>): Promise<void> {
  const giveUpAt = systemClock.monotonic() + settleWithinMs;
  while ((await ask()) !== 'approved') {
    if (systemClock.monotonic() > giveUpAt)
      throw new StartupError('not_approved', 'The payment was not approved in time.');
    await systemClock.sleep(askEveryMs);
  }
}

/**
 * The gateway caches the provider's balance for a second, so the first answer may not include money that has just
 * settled.
 */
const balanceWithinMs = 3_000;

/** Polls a balance until it covers the amount, and returns the last answer. */
export async function balanceCovering(amount: number, read: () => Promise<number>): Promise<number> {
  const giveUpAt = systemClock.monotonic() + balanceWithinMs;
  let available = await read();
  while (available < amount && systemClock.monotonic() < giveUpAt) {
    await systemClock.sleep(askEveryMs);
    available = await read();
  }
  return available;
}
