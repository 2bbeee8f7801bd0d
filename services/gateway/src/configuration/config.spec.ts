import { readConfig } from '@tollgate/service-kit';
import { expect, it, test } from 'vitest';
import { gatewayConfigSchema } from './config.ts';

const configOf = (env: Record<string, string>) => readConfig(gatewayConfigSchema, env);

it('takes the days after which a day is reconciled again', () => {
  expect(configOf({}).reconciledAfterDays).toEqual([1, 2, 7, 30]);
  expect(configOf({ RECONCILE_AFTER_DAYS: '1, 14' }).reconciledAfterDays).toEqual([1, 14]);
});

it('needs no variable', () => {
  expect(configOf({})).toMatchObject({ dataDir: '.data', host: '127.0.0.1', kafka: undefined });
});

// A slash at its end once made every callback a 404.
it('takes the address of callbacks with and without a slash at its end', () => {
  for (const CALLBACK_PUBLIC_URL of ['https://pay.example/tollgate', 'https://pay.example/tollgate//'])
    expect(configOf({ CALLBACK_PUBLIC_URL }).callbackPublicUrl).toBe('https://pay.example/tollgate');
});

test.each([
  [{ CALLBACK_PUBLIC_URL: 'https://pay.example/?a=b' }, 'CALLBACK_PUBLIC_URL'],
  [{ CALLBACK_PUBLIC_URL: 'https://a:b@pay.example/' }, 'CALLBACK_PUBLIC_URL'],
  [{ CALLBACK_PUBLIC_URL: 'ftp://pay.example' }, 'CALLBACK_PUBLIC_URL'],
  [{ GATEWAY_TLS_CERT_FILE: 'a.pem' }, 'GATEWAY_TLS_CERT_FILE'],
  [{ GATEWAY_PLAIN_HTTP_PORT: '3080' }, 'GATEWAY_PLAIN_HTTP_PORT'],
  [{ TOLLGATE_INSTANCE: '../x' }, 'TOLLGATE_INSTANCE'],
  [{ PROVIDER_FAILURES_IN_A_ROW: '0' }, 'PROVIDER_FAILURES_IN_A_ROW'],
  [{ RECONCILE_AFTER_DAYS: '0' }, 'RECONCILE_AFTER_DAYS'],
  [{ RECONCILE_AFTER_DAYS: '1,367' }, 'RECONCILE_AFTER_DAYS'],
])('%j is refused by name', (env, variable) => {
  expect(() => configOf(env as Record<string, string>)).toThrow(variable);
});
