import { StartupError, readConfig } from '@tollgate/service-kit';
import { propertyRuns } from '@tollgate/testing';
import fc from 'fast-check';
import { expect, it, test } from 'vitest';
import { z } from 'zod';
import { fieldsOf } from './config-fields.ts';
import { gatewayConfigSchema } from './config.ts';

const configOf = (env: Record<string, string>) => readConfig(gatewayConfigSchema, env);

it('accepts the days of repeated reconciliations', () => {
  expect(configOf({}).reconciledAfterDays).toEqual([1, 2, 7, 30]);
  expect(configOf({ RECONCILE_AFTER_DAYS: '1, 14' }).reconciledAfterDays).toEqual([1, 14]);
  expect(configOf({}).reviewsByTwo).toEqual([]);
  expect(configOf({ REVIEWS_BY_TWO: 'production, sandbox' }).reviewsByTwo).toEqual(['production', 'sandbox']);
});

it('needs no variable', () => {
  expect(configOf({})).toMatchObject({ dataDir: '.data', host: '127.0.0.1', kafka: undefined });
});

// A trailing slash once made every callback a 404.
it('accepts the callback address with and without a trailing slash', () => {
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
  [{ REVIEWS_BY_TWO: 'production,prod' }, 'REVIEWS_BY_TWO'],
  [{ REVIEWS_BY_TWO: 'true' }, 'REVIEWS_BY_TWO'],
  [{ RECONCILE_AFTER_DAYS: '1,367' }, 'RECONCILE_AFTER_DAYS'],
])('%j is refused by name', (env, variable) => {
  expect(() => configOf(env as Record<string, string>)).toThrow(variable);
});

// Of these only the first was reported, without its bounds, and the last two ended with a stack.
it('reports the faults of all variables together, each once, with bounds', () => {
  const wrong = {
    GATEWAY_REQUESTS_PER_SECOND: '0',
    GATEWAY_IDLE_MS: '1.5',
    GATEWAY_PORT: '99999',
    TOLLGATE_LOG_LEVEL: 'INFO',
    PAYMENT_SERVICE_HTTPS_PORT: 'abc',
    EVENTSTORE_URL: 'nowhere',
    KAFKA_BROKERS: 'nowhere',
    // These waited for a start without the others.
    DATA_SECRETS: 'k1:short',
    CALLBACK_SECRETS: 'k1:short',
    GATEWAY_TLS_KEY_FILE: 'key.pem',
  };
  const intro = 'Correct these environment variables and start again: ';
  const faults = [
    'DATA_SECRETS must be one to 16 entries written kid:secret, separated by a comma, each secret at least 32 characters',
    'EVENTSTORE_URL must be esdb://host:port, or several of them separated by commas, or esdb+discover://name',
    'KAFKA_BROKERS must be host:port, or several of them separated by commas',
    'GATEWAY_PORT must be a port number from 0 to 65535',
    'GATEWAY_REQUESTS_PER_SECOND must be a whole number of requests a second from 1 to 100000',
    'GATEWAY_IDLE_MS must be a whole number of milliseconds from 1 to 86400000',
    'CALLBACK_SECRETS must be one or two entries written kid:secret, separated by a comma, each secret at least 32 characters',
    'TOLLGATE_LOG_LEVEL must be one of debug, info, warn, error, silent',
    'GATEWAY_TLS_CERT_FILE and GATEWAY_TLS_KEY_FILE must be set both or not at all',
    'PAYMENT_SERVICE_HTTPS_PORT must be a port number from 0 to 65535',
  ];
  expect(() => configOf(wrong)).toThrow(new StartupError('config_invalid', `${intro}${faults.join('; ')}.`));
});

test('any value of a variable is accepted, or refused by a message with its name', () => {
  const names = [
    'GATEWAY_PORT',
    'KAFKA_BROKERS',
    'EVENTSTORE_URL',
    'CALLBACK_PUBLIC_URL',
    'RECONCILE_AFTER_DAYS',
  ];
  const name = fc.constantFrom(...names, 'FINAL_INQUIRIES_AFTER_S', 'PROVIDER_QUIET_MS', 'TOLLGATE_INSTANCE');
  const value = fc.oneof(
    fc.constantFrom('', ' ', '0', '-1', '1e9', '1,,2', 'NaN', 'https://', 'a:b', ':', 'x'.repeat(9_999)),
    fc.string({ unit: 'binary' }),
  );
  fc.assert(
    fc.property(name, value, (variable, text) => {
      try {
        configOf({ [variable]: text });
      } catch (error) {
        expect(error).toBeInstanceOf(StartupError);
        expect(String(error)).toContain(variable);
      }
    }),
    { numRuns: propertyRuns(500) },
  );
});

it('rejects a variable without a description', () => {
  expect(() => fieldsOf(z.object({ SHOP: z.string() }))).toThrow('SHOP has no description');
});
