import { readConfig } from '@tollgate/service-kit';
import { describe, expect, it } from 'vitest';
import { gatewayConfigSchema } from '../configuration/config.ts';
import { serviceNames } from '../configuration/service-names.ts';
import { type PlannedProcess, planProcesses } from './plan.ts';

function plan(instances: number, env: Record<string, string> = {}): readonly PlannedProcess[] {
  const config = readConfig(gatewayConfigSchema, env);
  let port = 20_000;
  const nextPort = () => (port += 1);
  return planProcesses({
    config,
    instances,
    dataDir: '/data',
    accountsFile: '/accounts.json',
    keyVariables: ['MAIN_KEY'],
    nextPort,
  });
}

const of = (planned: readonly PlannedProcess[], label: string): PlannedProcess => {
  const found = planned.find((each) => each.label === label);
  if (found === undefined) throw new Error(`there is no ${label}`);
  return found;
};

describe('one of each', () => {
  it('is every service, at the addresses that teams and the Payment Service expect', () => {
    const planned = plan(1);
    expect(planned.map(({ label }) => label)).toEqual(serviceNames);
    expect(of(planned, 'api').port).toBe(3000);
    expect(of(planned, 'callback-ingester').env).toMatchObject({ CALLBACK_PORT: '3001' });
    expect(of(planned, 'command-service').env['CALLBACK_PUBLIC_URL']).toBe('http://127.0.0.1:3001');
  });

  it('uses HTTPS at the front door only, on request', () => {
    const planned = plan(1, { GATEWAY_HOST: '10.1.2.3' });
    const exposed = planned.filter(({ env }) => env['GATEWAY_HOST'] === '10.1.2.3');
    expect(exposed.map(({ service }) => service)).toEqual(['callback-ingester', 'api']);
  });

  it('speaks HTTPS at the front door only, if that is asked for', () => {
    const planned = plan(1);
    const speaking = planned.filter(({ inherited }) => inherited.includes('GATEWAY_TLS_CERT_FILE'));
    expect(speaking.map(({ service }) => service)).toEqual(['api']);
  });
});

it('lets the command service alone have the keys that the accounts file names', () => {
  const having = plan(2).filter(({ inherited }) => inherited.includes('MAIN_KEY'));
  expect(having.map(({ label }) => label)).toEqual(['command-service-1', 'command-service-2']);
  expect(plan(1).filter(({ env }) => 'PROVIDER_ACCOUNTS_FILE' in env)).toHaveLength(1);
});

// The Payment Service got loopback while callbacks were expected at another address, and never reached us.
it.each([
  [{}, 'http://127.0.0.1:3001'],
  [{ GATEWAY_HOST: '10.1.2.3' }, 'http://10.1.2.3:3001'],
  [{ GATEWAY_HOST: '::1', CALLBACK_PORT: '3009' }, 'http://[::1]:3009'],
  [{ GATEWAY_HOST: '0.0.0.0' }, 'http://127.0.0.1:3001'],
  [{ GATEWAY_HOST: '::' }, 'http://127.0.0.1:3001'],
  [{ GATEWAY_HOST: '10.1.2.3', CALLBACK_PUBLIC_URL: 'https://pay.example' }, 'https://pay.example'],
])('with %j callbacks are awaited at %s', (env, url) => {
  expect(of(plan(1, env), 'command-service').env['CALLBACK_PUBLIC_URL']).toBe(url);
});

describe('two of each', () => {
  const planned = plan(2);

  it('know both services that they call', () => {
    const ports = [of(planned, 'query-service-1').port, of(planned, 'query-service-2').port];
    expect(of(planned, 'api-2').env['QUERY_SERVICE_URL']).toBe(
      ports.map((port) => `http://127.0.0.1:${port}`).join(','),
    );
  });

  it('share no port and no index', () => {
    const ports = planned.flatMap(({ service, port, env }) =>
      service === 'callback-ingester' ? [String(port), env['CALLBACK_PORT']] : [String(port)],
    );
    expect(new Set(ports).size).toBe(ports.length);
    const instances = ['command-service-1', 'command-service-2'].map((label) => of(planned, label).env);
    expect(instances.map((env) => env['TOLLGATE_INSTANCE'])).toEqual(['', 'services-2']);
  });

  it('get only variables that their program accepts', () => {
    for (const { label, env } of planned)
      expect(() => readConfig(gatewayConfigSchema, env), label).not.toThrow();
  });
});
