import { readConfig } from '@tollgate/service-kit';
import { describe, expect, it } from 'vitest';
import { variableNames } from './config-fields.ts';
import { gatewayConfigSchema } from './config.ts';
import { serviceNames } from './service-names.ts';
import { variablesOf } from './service-variables.ts';

// The sandbox that the gateway brings up in its own process has variables of its own.
const known = variableNames(gatewayConfigSchema).filter((name) => !name.startsWith('PAYMENT_SERVICE_'));
/** No service reads them. */
const ofTheOperator = ['TOLLGATE_TEAM_SIGNING_KEY', 'TOLLGATE_TEAM_SIGNING_KEY_FILE'];

it('every variable of the gateway is of some service, and every one that a service has exists', () => {
  const listed = new Set(serviceNames.flatMap(variablesOf));
  expect([...listed].filter((name) => !known.includes(name))).toEqual([]);
  expect(known.filter((name) => !listed.has(name))).toEqual(ofTheOperator);
});

// Each process had the whole environment, keys at the Payment Service included.
describe('a secret is given only to services that need it', () => {
  it.each([
    ['CALLBACK_SECRETS', ['callback-ingester', 'command-service']],
    ['WEBHOOK_SECRETS', ['notifier']],
    ['DATA_SECRETS', ['command-service']],
    ['INTERNAL_SECRETS', ['command-service', 'query-service', 'notifier', 'api']],
    ['GATEWAY_TLS_KEY_FILE', ['api']],
    ['OIDC_CLIENT_SECRET', ['api']],
    ['PROVIDER_ACCOUNTS_FILE', ['command-service']],
    ['KAFKA_SASL_PASSWORD', ['callback-ingester', 'event-publisher', 'command-service']],
    ['TOLLGATE_TEAM_SIGNING_KEY', []],
  ])('%s', (variable, services) => {
    expect(serviceNames.filter((service) => variablesOf(service).includes(variable))).toEqual(services);
  });

  it('the password of the event store: not with the front door', () => {
    const without = serviceNames.filter((service) => !variablesOf(service).includes('EVENTSTORE_PASSWORD'));
    expect(without).toEqual(['api']);
  });
});

// The configuration of a service must not depend on how it is started.
it.each(serviceNames)('%s knows every variable that it gets from a whole environment', (service) => {
  const environment = {
    GATEWAY_TLS_CERT_FILE: 'cert.pem',
    GATEWAY_TLS_KEY_FILE: 'key.pem',
    GATEWAY_PLAIN_HTTP_PORT: '80',
    KAFKA_BROKERS: 'kafka:9092',
    KAFKA_TLS: 'true',
    KAFKA_SASL_MECHANISM: 'plain',
    KAFKA_SASL_USERNAME: 'tollgate',
    KAFKA_SASL_PASSWORD: 'hush',
    EVENTSTORE_URL: 'esdb://store:2113',
    EVENTSTORE_USERNAME: 'tollgate',
    EVENTSTORE_PASSWORD: 'hush',
  };
  const names = variablesOf(service);
  const given = Object.fromEntries(Object.entries(environment).filter(([name]) => names.includes(name)));
  expect(() => readConfig(gatewayConfigSchema, given)).not.toThrow();
});
