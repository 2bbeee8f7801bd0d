/** The console at the front door. */
import { type SandboxControls, registerConsole } from '@tollgate/console';
import { TollgateError, omitUndefined } from '@tollgate/service-kit';
import type { FastifyInstance } from 'fastify';
import { Agent, request } from 'undici';
import { serviceNames } from '../configuration/service-names.ts';
import type { Parts } from './parts.ts';
import type { Sandbox } from './sandbox.ts';

/** Adds the console, with the controls of the sandbox if this process starts one. */
export async function addConsole(app: FastifyInstance, parts: Parts): Promise<void> {
  const { clock, ids, logOf, config } = parts;
  const isWhole = serviceNames.every(parts.runs);
  const sandbox = isWhole ? (await parts.accounts()).sandbox : undefined;
  await registerConsole(app, {
    credentials: parts.operatorCredentials(),
    shortLinks: parts.shortLinks,
    clock,
    ids,
    log: logOf('console'),
    ...omitUndefined({ identityProvider: config.identityProvider }),
    ...omitUndefined({ sandbox: sandbox && controlsOf(sandbox, parts.stops) }),
  });
}

function controlsOf({ httpsUrl, ca, key }: Sandbox, stops: AsyncDisposableStack): SandboxControls {
  const dispatcher = new Agent({ connect: { ca } });
  stops.defer(() => dispatcher.destroy());
  return {
    async control(method, path, body) {
      const answer = await request(`${httpsUrl}/sandbox/${path}`, {
        method,
        dispatcher,
        headers: {
          authorization: `Bearer ${key.reveal()}`,
          ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
      const answered = (await answer.body.json()) as Readonly<Record<string, unknown>>;
      if (answer.statusCode < 300) return answered;
      throw new TollgateError('sandbox_refused', `The sandbox refused ${method} ${path}.`);
    },
  };
}
