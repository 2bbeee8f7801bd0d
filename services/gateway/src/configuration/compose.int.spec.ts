/** docker-compose.yml and the image against the program that they run: an engine that could try them is not everywhere. */
import { readFileSync } from 'node:fs';
import { rootCertificates } from 'node:tls';
import { readConfig } from '@tollgate/service-kit';
import { paymentServiceConfigSchema } from '@tollgate/payment-service/settings';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { parseAccounts } from './account-config.ts';
import { variableNames } from './config-fields.ts';
import { dataDirConfigSchema, gatewayConfigSchema } from './config.ts';
import { type ServiceName, readServiceNames, serviceNames } from './service-names.ts';
import { variablesOf } from './service-variables.ts';

interface Container {
  image: string;
  command?: string[];
  entrypoint?: string[];
  environment?: Record<string, string>;
  ports?: string[];
  volumes?: string[];
  healthcheck?: { test?: string[]; disable?: boolean };
  depends_on?: Record<string, { condition: string }>;
  read_only?: boolean;
  cap_drop?: string[];
  security_opt?: string[];
  ulimits?: { core?: number };
}

const read = (path: string) => readFileSync(new URL(`../../../../${path}`, import.meta.url), 'utf8');

/** As compose reads it if no variable is set. */
const withDefaults = (_name: unknown, value: unknown) =>
  typeof value === 'string' ? value.replace(/\$\{\w+:-([^}]*)\}/g, '$1') : value;

const compose = parse(read('docker-compose.yml'), withDefaults, { merge: true }) as {
  services: Record<string, Container>;
  volumes: Record<string, unknown>;
};
const dockerfile = read('infra/docker/Dockerfile');

const all = Object.entries(compose.services);
const ours = all.filter(([, { image }]) => image.startsWith('tollgate:'));
/** Containers that run the image's own entry point. */
const services = ours.filter(([, { entrypoint }]) => entrypoint === undefined);

describe('the containers', () => {
  it('run every service that there is, each one of them, under its own name', () => {
    expect(services.map(([name]) => name).toSorted()).toEqual(serviceNames.toSorted());
    for (const [name, { command = [] }] of services) expect(readServiceNames(command)).toEqual([name]);
  });

  // Each had the secrets of all.
  it.each(services)(
    '%s gets only variables that it reads, and enough to start',
    (name, { environment = {} }) => {
      const service = readServiceNames([name])[0] as ServiceName;
      const read = variablesOf(service);
      expect(Object.keys(environment).filter((variable) => !read.includes(variable))).toEqual([]);
      const { eventStore, kafka } = readConfig(gatewayConfigSchema, environment);
      // Callbacks need the event store only without Kafka.
      const needsStore = read.includes('EVENTSTORE_URL') && service !== 'callback-ingester';
      expect([eventStore !== undefined, kafka !== undefined]).toEqual([
        needsStore,
        read.includes('KAFKA_BROKERS'),
      ]);
      for (const variable of read.filter((each) => each.endsWith('_SECRETS')))
        expect(environment).toHaveProperty(variable);
    },
  );

  it('of the command line get only variables that it reads', () => {
    const tools = ours.filter(([, { entrypoint = [] }]) => entrypoint.includes('services/cli/src/main.ts'));
    expect(tools.map(([name]) => name)).toEqual(['topics', 'signing', 'tollgate']);
    for (const [, { environment = {} }] of tools)
      expect(variableNames(dataDirConfigSchema)).toEqual(expect.arrayContaining(Object.keys(environment)));
  });

  // A setting of ours, a size of appends, once prevented EventStoreDB from starting.
  it("set only EventStoreDB's TLS and telemetry", () => {
    const { environment = {} } = compose.services['eventstoredb'] ?? {};
    const settings = Object.keys(environment).map((name) => name.slice(name.indexOf('_') + 1));
    expect(new Set(settings)).toEqual(new Set(['INSECURE', 'TELEMETRY_OPTOUT']));
  });

  it('set only variables that the sandbox knows', () => {
    const { environment = {} } = compose.services['payment-service'] ?? {};
    for (const variable of Object.keys(environment))
      expect(variableNames(paymentServiceConfigSchema)).toContain(variable);
    expect(readConfig(paymentServiceConfigSchema, environment)).toMatchObject({
      httpsPort: 4443,
      hostNames: ['payment-service'],
    });
  });

  it('find one another: every address is that of a container and one of its ports', () => {
    const addresses = ours.flatMap(([, { environment = {} }]) =>
      Object.entries(environment).filter(([, value]) => /^https?:\/\//.test(value)),
    );
    expect(addresses.length).toBeGreaterThan(3);
    for (const [variable, address] of addresses) {
      const { hostname, port } = new URL(address);
      expect(Object.keys(compose.services), variable).toContain(hostname);
      expect(port, variable).toBe(variable === 'CALLBACK_PUBLIC_URL' ? '3001' : '3000');
    }
  });

  it('wait for existing services with a health check', () => {
    for (const [name, { depends_on: others = {} }] of all)
      for (const [other, { condition }] of Object.entries(others)) {
        const { healthcheck } = compose.services[other] ?? {};
        if (condition === 'service_healthy') expect(healthcheck?.test, `${name} → ${other}`).toBeDefined();
        else expect(compose.services, name).toHaveProperty(other);
      }
  });

  it('are reached at the ports of npm start, and on loopback only', () => {
    const ports = all.flatMap(([name, { ports: published = [] }]) => published.map((port) => [name, port]));
    expect(ports.toSorted()).toEqual([
      ['api', '127.0.0.1:3000:3000'],
      ['callback-ingester', '127.0.0.1:3001:3001'],
      ['payment-service', '127.0.0.1:4080:4080'],
      ['payment-service', '127.0.0.1:4443:4443'],
    ]);
  });

  it.each(ours)('%s may write to its volumes only, and gains no right', (_name, container) => {
    expect(container).toMatchObject({
      read_only: true,
      cap_drop: ['ALL'],
      ulimits: { core: 0 },
      security_opt: ['no-new-privileges:true'],
    });
    for (const volume of container.volumes ?? []) {
      const [source = '', target] = volume.split(':');
      if (target !== undefined && !source.startsWith('.')) expect(compose.volumes).toHaveProperty(source);
    }
  });

  it('with an index do not share it', () => {
    for (const name of ['command-service', 'query-service'])
      expect(compose.services[name]?.volumes, name).toContain('/index');
  });

  it('have accounts that the program accepts', () => {
    const accounts = parseAccounts(read('infra/docker/accounts.json'), {
      file: 'accounts.json',
      readText: (path) => (path.endsWith('.pem') ? (rootCertificates[0] ?? '') : 'sk_sandbox_1'),
    });
    expect(accounts).toMatchObject([{ environment: 'sandbox', baseUrl: 'https://payment-service:4443' }]);
  });
});

describe('the image', () => {
  it('has the Node that the lockfile has, by its whole version', () => {
    const lock = JSON.parse(read('package-lock.json')) as { packages: Record<string, { version: string }> };
    expect(dockerfile).toContain(`NODE_IMAGE=node:${lock.packages['node_modules/node']?.version}-`);
  });

  it('contains the production code, a list of it, and no debugger', () => {
    expect(dockerfile).toMatch(/npm ci --omit=dev/);
    expect(dockerfile).toMatch(
      /npm sbom --sbom-format cyclonedx --omit dev --package-lock-only > sbom\.cdx\.json/,
    );
    expect(dockerfile.slice(dockerfile.lastIndexOf('FROM '))).toMatch(
      /^ENV NODE_OPTIONS="--disable-sigusr1 --max-old-space-size=512 --max-semi-space-size=16"$/m,
    );
  });

  it('runs the program as an unprivileged user', () => {
    const last = dockerfile.slice(dockerfile.lastIndexOf('FROM '));
    expect(last).toMatch(/^USER node$/m);
    expect(last).toMatch(/^ENTRYPOINT \["node", "services\/gateway\/src\/main\.ts"\]$/m);
  });
});
