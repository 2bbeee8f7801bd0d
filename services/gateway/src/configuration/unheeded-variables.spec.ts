import { expect, it } from 'vitest';
import { serviceNames } from './service-names.ts';
import { unheededVariables, unknownVariables } from './unheeded-variables.ts';

// GATEWAY_PROT=3000 was ignored silently, and the gateway listened on another port than its operator believed.
it.each([
  ['GATEWAY_PROT', 'GATEWAY_PORT'],
  ['REVIEWS_BY_TOW', 'REVIEWS_BY_TWO'],
  ['DATA_SECRET', 'DATA_SECRETS'],
  ['KAFKA_BROKER', 'KAFKA_BROKERS'],
])('%s is reported, and that %s may be meant', (name, nearest) => {
  expect(unknownVariables(['PATH', name])).toEqual([
    `${name} is not a known variable. Did you mean ${nearest}?`,
  ]);
});

it('an unknown name with our prefix is reported, even without a similar one', () => {
  expect(unknownVariables(['TOLLGATE_ENABLE_EVERYTHING'])).toEqual([
    'TOLLGATE_ENABLE_EVERYTHING is not a known variable. See docs/operator/configuration.md.',
  ]);
});

it.each([
  ['of ours', 'GATEWAY_PORT'],
  ['of the command line', 'TOLLGATE_AS'],
  ['of the shell', 'HOME'],
  ['of Kubernetes', 'GATEWAY_SERVICE_PORT_HTTP'],
  ['of Kubernetes', 'GATEWAY_PORT_3000_TCP_ADDR'],
])('one %s is not: %s', (_whose, name) => {
  expect(unknownVariables([name])).toEqual([]);
});

it('a variable without effect in this configuration is reported', () => {
  const env = {
    OIDC_CLIENT_ID: 'x',
    OIDC_CLIENT_SECRET: '',
    COMMAND_SERVICE_URL: 'http://127.0.0.1:1',
    PROVIDER_ACCOUNTS_FILE: '/nowhere/accounts.json',
  };
  expect(unheededVariables(env, serviceNames)).toEqual([
    'OIDC_CLIENT_ID has no effect without OIDC_ISSUER',
    'COMMAND_SERVICE_URL has no effect: the command-service runs in this process',
    'CALLBACK_PUBLIC_URL is not set: the Payment Service receives the local address of the callback port',
  ]);
  expect(unheededVariables(env, ['api'])).toHaveLength(1);
  expect(unheededVariables({ ...env, OIDC_ISSUER: 'https://id.example' }, ['api'])).toEqual([]);
});
