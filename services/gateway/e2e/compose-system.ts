/**
 * The shipped docker-compose.yml on a real engine, controlled from outside, as built and named by `npm run
 * test:containers`.
 */
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { eventually, programEnvironment } from '@tollgate/testing';
import { z } from 'zod';
import { type Answer, type CallGateway, type CallSandbox, callJson } from './system.ts';

const workspace = fileURLToPath(new URL('../../..', import.meta.url));
const project = 'tollgate-test';
/** Environment variables passed to the containers. */
const passedOn = [
  ...['DOCKER_HOST', 'TOLLGATE_VERSION'],
  ...['NODE_IMAGE', 'EVENTSTORE_IMAGE', 'KAFKA_IMAGE'],
] as const;
/** The shipped file, and the tests' additions. */
const files = ['--file', 'docker-compose.yml', '--file', 'infra/containers/compose.yml'];
const healthyWithinMs = 240_000;
const outputBytesMax = 64 * 1024 * 1024;

export interface Container {
  id: string;
  name: string;
  service: string;
  /** Docker's state: `running`, `exited`, `restarting` … */
  state: string;
  /** `healthy`, `starting`, `unhealthy`; `none` without a health check. */
  health: string;
  /** Id of the first process on the engine's host; 0 if not running. */
  pid: number;
}

function composeEnvironment(): Record<string, string> {
  const named = passedOn.flatMap((name) => {
    const value = process.env[name];
    return value === undefined ? [] : [[name, value] as const];
  });
  return {
    ...programEnvironment(),
    ...Object.fromEntries(named),
    COMPOSE_PROJECT_NAME: project,
    // Several of each, next to a gateway that may run on this machine.
    GATEWAY_PORTS: '3100-3109',
    CALLBACK_PORTS: '3110-3119',
    // Docker's networks.
    WEBHOOK_NETWORKS: '172.16.0.0/12,192.168.0.0/16',
  };
}

/** @throws Error with the program's output if it fails */
async function run(command: string, argv: readonly string[]): Promise<string> {
  const options = { cwd: workspace, env: composeEnvironment(), maxBuffer: outputBytesMax };
  const { stdout } = await promisify(execFile)(command, argv, options);
  return stdout;
}

const docker = (...argv: string[]): Promise<string> => run('docker', argv);

export function compose(...argv: string[]): Promise<string> {
  const [command = '', ...before] = (process.env['TOLLGATE_COMPOSE'] ?? '').split(' ');
  if (command === '')
    throw new Error('These specs need an engine and images: run them with npm run test:containers.');
  return run(command, [...before, ...files, ...argv]);
}

/** The gateway's command line, called as documented. */
export const tollgateCommand = (...argv: string[]): Promise<string> =>
  compose('run', '--rm', '-T', 'tollgate', ...argv);

export async function containers(): Promise<Container[]> {
  const ids = (
    await docker('ps', '--all', '--quiet', '--filter', `label=com.docker.compose.project=${project}`)
  )
    .split('\n')
    .filter((id) => id !== '');
  if (ids.length === 0) return [];
  return inspectedSchema
    .parse(JSON.parse(await docker('inspect', ...ids)))
    .map(({ Id: id, Name: name, Config: { Labels: labels }, State: state }) => ({
      id,
      name: name.slice(1),
      service: labels['com.docker.compose.service'] ?? '',
      state: state.Status,
      health: state.Health?.Status ?? 'none',
      pid: state.Pid,
    }));
}

/** The fields of Docker's container description that are read here. */
const inspectedSchema = z.array(
  z.object({
    Id: z.string(),
    Name: z.string(),
    Config: z.object({ Labels: z.record(z.string(), z.string()) }),
    State: z.object({
      Status: z.string(),
      Pid: z.int(),
      Health: z.object({ Status: z.string() }).optional(),
    }),
  }),
);

/** Resolves when every permanent container is running and healthy. */
export async function untilHealthy(): Promise<void> {
  await eventually(
    async () => {
      const unwell = (await containers())
        .filter(({ service }) => service !== 'topics' && service !== 'signing')
        .filter(({ health }) => health !== 'healthy')
        .map(({ name, state, health }) => `${name} is ${state}, ${health}`);
      if (unwell.length > 0) throw new Error(unwell.join('; '));
    },
    { timeoutMs: healthyWithinMs, intervalMs: 250 },
  );
}

/** Simulates a crash by killing the first process. Resolves when the engine has restarted it and it is healthy. */
export async function crash({ id, name, pid }: Container): Promise<void> {
  // Killed from inside the container: the engine may be on another machine, and it does not restart a container after
  // `docker kill`.
  const killing = [
    '--pid',
    'host',
    '--user',
    'root',
    '--entrypoint',
    'bash',
    process.env['NODE_IMAGE'] ?? '',
  ];
  await docker('run', '--rm', ...killing, '-c', `kill -KILL ${pid}`);
  await eventually(
    async () => {
      const now = (await containers()).find((each) => each.id === id);
      if (now === undefined || now.pid === pid || now.pid === 0 || now.health !== 'healthy')
        throw new Error(`${name} is ${now?.state ?? 'gone'}, ${now?.health ?? ''}`);
    },
    { timeoutMs: healthyWithinMs, intervalMs: 100 },
  );
}

/** External addresses of a service's instances. */
export async function originsOf(service: string, port: number): Promise<string[]> {
  const own = (await containers()).filter((each) => each.service === service && each.state === 'running');
  const addresses = await Promise.all(own.map(({ id }) => docker('port', id, `${port}/tcp`)));
  return addresses.map((address) => `http://${address.trim().split('\n')[0] ?? ''}`);
}

/** Calls one front door after the other, as a load balancer does. */
export function gatewayWith(key: string, origins: () => readonly string[]): CallGateway {
  let turn = 0;
  return (method, path, call) => {
    const all = origins();
    const origin = all[(turn += 1) % all.length] ?? '';
    return callJson(`${origin}${path}`, method, key, call);
  };
}

/** The Payment Service of the containers, with its generated key and authority. */
export async function sandboxOfContainers(): Promise<{ sandbox: CallSandbox; ca: string }> {
  const read = (file: string) => compose('exec', '-T', 'payment-service', 'cat', `/sandbox/${file}`);
  const [key, ca] = await Promise.all([read('payment-service-key'), read('payment-service-tls/ca.pem')]);
  const sandbox: CallSandbox = (method, path, body): Promise<Answer> =>
    callJson(`https://localhost:4443${path}`, method, key.trim(), { body }, ca);
  return { sandbox, ca };
}

/** Everything on a topic, as printed by Kafka's own consumer: headers and value of one record per line. */
export async function readTopic(
  topic: string,
): Promise<{ headers: Record<string, string>; value: unknown }[]> {
  const printed = ['print.headers=true', 'print.key=false', 'headers.separator=;'];
  const argv = [
    ...['--bootstrap-server', '127.0.0.1:9092', '--topic', topic, '--from-beginning', '--timeout-ms', '5000'],
    ...printed.flatMap((property) => ['--property', property]),
  ];
  const classPath = ['-cp', '/opt/kafka/libs/*'];
  const program = 'org.apache.kafka.tools.consumer.ConsoleConsumer';
  const text = await compose('exec', '-T', 'kafka', 'java', ...classPath, program, ...argv);
  return text
    .split('\n')
    .filter((line) => line.includes('\t'))
    .map((line) => {
      const [headers = '', value = ''] = line.split('\t');
      const pairs = headers.split(';').map((pair) => {
        const [name = '', ...rest] = pair.split(':');
        return [name, rest.join(':')] as const;
      });
      return { headers: Object.fromEntries(pairs), value: JSON.parse(value) as unknown };
    });
}

/** A team's server on the containers' network. */
export async function startShop(): Promise<{
  url: string;
  received(): Promise<{ body: { token: string } }[]>;
}> {
  const name = `${project}-shop`;
  await stopShop();
  const folder = fileURLToPath(new URL('../../../infra/containers/shop', import.meta.url));
  const where = [
    '--network',
    `${project}_default`,
    '--network-alias',
    'shop',
    '--volume',
    `${folder}:/shop:ro`,
  ];
  const image = process.env['NODE_IMAGE'] ?? '';
  await docker('run', '--detach', '--name', name, ...where, image, 'node', '/shop/receiver.mjs');
  return {
    url: 'https://shop:8443/tollgate',
    received: async () =>
      (await docker('logs', name))
        .split('\n')
        .filter((line) => line.startsWith('{'))
        .map((line) => JSON.parse(line) as { body: { token: string } }),
  };
}

/** It is on their network, so it must be removed before they are taken down. */
export const stopShop = (): Promise<unknown> =>
  docker('rm', '--force', `${project}-shop`).catch(() => undefined);

/** Removes everything of the containers, including their volumes. */
export async function removeEverything(): Promise<void> {
  await stopShop();
  await compose('down', '--volumes', '--remove-orphans', '--timeout', '5');
}

/** Memory use at rest, MiB by container. */
export async function memoryInMiB(): Promise<Map<string, number>> {
  const all = (await containers()).filter(({ state }) => state === 'running');
  const text = await docker(
    'stats',
    '--no-stream',
    '--format',
    '{{.Name}} {{.MemUsage}}',
    ...all.map(({ id }) => id),
  );
  const units: Record<string, number> = { KiB: 1 / 1_024, MiB: 1, GiB: 1_024 };
  return new Map(
    text
      .trim()
      .split('\n')
      .map((line) => {
        const [, name = '', amount = '0', unit = 'MiB'] = /^(\S+) ([\d.]+)(\w+)/.exec(line) ?? [];
        return [name, Math.round(Number(amount) * (units[unit] ?? 0))] as const;
      }),
  );
}

/** The last log lines of every container, for a failure report. */
export const lastLogs = (): Promise<string> => compose('logs', '--no-color', '--tail', '15');
