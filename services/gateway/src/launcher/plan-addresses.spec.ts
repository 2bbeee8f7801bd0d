import { readConfig } from '@tollgate/service-kit';
import { expect, it } from 'vitest';
import { gatewayConfigSchema } from '../config.ts';
import { planProcesses } from './plan.ts';

function callbackUrlWith(env: Record<string, string>): string | undefined {
  const config = readConfig(gatewayConfigSchema, env);
  const places = { dataDir: '/data', accountsFile: '/accounts.json', nextPort: () => 20_000 };
  const planned = planProcesses({ config, instances: 1, ...places });
  return planned.find(({ service }) => service === 'command-service')?.env['CALLBACK_PUBLIC_URL'];
}

// Told of loopback while the callbacks were awaited at another address, the Payment Service never reached us.
it.each([
  [{}, 'http://127.0.0.1:3001'],
  [{ GATEWAY_HOST: '10.1.2.3' }, 'http://10.1.2.3:3001'],
  [{ GATEWAY_HOST: '::1', CALLBACK_PORT: '3009' }, 'http://[::1]:3009'],
  [{ GATEWAY_HOST: '0.0.0.0' }, 'http://127.0.0.1:3001'],
  [{ GATEWAY_HOST: '::' }, 'http://127.0.0.1:3001'],
  [{ GATEWAY_HOST: '10.1.2.3', CALLBACK_PUBLIC_URL: 'https://pay.example' }, 'https://pay.example'],
])('with %j callbacks are awaited at %s', (env, url) => {
  expect(callbackUrlWith(env)).toBe(url);
});
