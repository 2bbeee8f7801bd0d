/** A gateway in this process, on free ports, for specs. */
import { dirname } from 'node:path';
import { temporaryFile } from '@tollgate/event-store/testing';
import { readConfig, silentLog, systemClock, systemIds } from '@tollgate/service-kit';
import { request } from 'undici';
import { onTestFinished } from 'vitest';
import { gatewayConfigSchema } from '../../configuration/config.ts';
import type { GatewayDependencies } from '../../configuration/gateway-dependencies.ts';
import type { ServiceName } from '../../configuration/service-names.ts';
import { startGateway } from '../gateway.ts';

const anyPorts = Object.fromEntries(
  ['GATEWAY', 'GATEWAY_METRICS', 'CALLBACK', 'PAYMENT_SERVICE_HTTPS', 'PAYMENT_SERVICE_HTTP'].map(
    (server) => [`${server}_PORT`, '0'],
  ),
);

/** An empty folder, removed when the test has ended. */
export const newDataDir = async (): Promise<string> => dirname(await temporaryFile());

interface Own extends Partial<GatewayDependencies> {
  env: Readonly<Record<string, string>>;
  /** @default all */
  services?: readonly ServiceName[];
}

/** Stopped when the test has ended. Without a data directory in `env`, it has one of its own. */
export async function startHere({ env: given, services, ...more }: Own) {
  const dataDir = given['TOLLGATE_DATA_DIR'] ?? (await newDataDir());
  const env = { ...anyPorts, TOLLGATE_LOG_LEVEL: 'silent', ...given, TOLLGATE_DATA_DIR: dataDir };
  const config = readConfig(gatewayConfigSchema, env);
  const own = { config, clock: systemClock, ids: systemIds, logOf: () => silentLog, pid: process.pid };
  const gateway = await startGateway({ ...own, env, ...more }, services);
  onTestFinished(() => gateway.stop());
  return gateway;
}

/** Calls a gateway as its demo team. */
export const callerOf =
  ({ url, quickstart }: Pick<Awaited<ReturnType<typeof startGateway>>, 'url' | 'quickstart'>) =>
  async (path: string, body?: object, headers: Readonly<Record<string, string>> = {}) => {
    const answer = await request(`${url}${path}`, {
      method: body === undefined ? 'GET' : 'POST',
      headers: {
        authorization: `Bearer ${quickstart?.content.apiKey}`,
        'content-type': 'application/json',
        ...headers,
      },
      ...(body && { body: JSON.stringify(body) }),
    });
    return { status: answer.statusCode, headers: answer.headers, body: await answer.body.json() };
  };
