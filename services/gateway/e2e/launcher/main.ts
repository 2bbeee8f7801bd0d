/**
 * Starts the sandbox, and each service as a process of its own, as a process manager does: it restarts what ends, and lists the
 * processes in `processes.json`. Its argument is the number of processes of each service.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { createLog, omitUndefined, readConfig, systemClock, systemIds } from '@tollgate/service-kit';
import { eventually, programEnvironment } from '@tollgate/testing';
import { demoKey } from '../../src/composition/demo-team.ts';
import { createParts } from '../../src/composition/parts.ts';
import { openSandbox, quickstartFieldsOf, type Sandbox } from '../../src/composition/sandbox.ts';
import { type GatewayConfig, gatewayConfigSchema } from '../../src/configuration/config.ts';
import { openDataDirectory } from '../../src/configuration/data-directory.ts';
import { type ServiceName, serviceNames } from '../../src/configuration/service-names.ts';
import { variablesOf } from '../../src/configuration/service-variables.ts';
import { openTeamKeys } from '../../src/configuration/team-signing.ts';
import { someFreePorts } from '../free-ports.ts';

const program = fileURLToPath(new URL('../../src/main.ts', import.meta.url));
const host = '127.0.0.1';
const restartAfterMs = 250;

/** First the processes that accept requests. The sandbox that they call is in this process. */
const stopOrder: readonly (readonly ServiceName[])[] = [
  ['api'],
  ['callback-ingester', 'command-service', 'query-service', 'notifier'],
  ['projector', 'event-publisher'],
];

interface Planned {
  label: string;
  service: ServiceName;
  port: number;
  metricsPort: number;
  env: Record<string, string>;
}

/** Only the variables of its service, as in the manifests of containers. */
async function plan(config: GatewayConfig, own: Record<string, string>): Promise<Planned[]> {
  const instances = Number(process.argv[2] ?? 1);
  const spare = (await someFreePorts(3 * instances * serviceNames.length)).values();
  const portOf = (configured = 0) => (configured === 0 ? (spare.next().value ?? 0) : configured);
  const placed = serviceNames.flatMap((service) =>
    Array.from({ length: instances }, (_, index) => {
      const isFrontDoor = service === 'api' && index === 0;
      return {
        service,
        index,
        port: portOf(isFrontDoor ? config.gatewayPort : 0),
        metricsPort: portOf(isFrontDoor ? config.metrics.port : 0),
        callbackPort: portOf(index === 0 ? config.callbackPort : 0),
      };
    }),
  );
  const originsOf = (wanted: ServiceName) =>
    placed.flatMap(({ service, port }) => (service === wanted ? [`http://${host}:${port}`] : [])).join(',');
  return placed.map(({ service, index, port, metricsPort, callbackPort }) => {
    const all = {
      ...process.env,
      ...own,
      COMMAND_SERVICE_URL: originsOf('command-service'),
      QUERY_SERVICE_URL: originsOf('query-service'),
      NOTIFIER_URL: originsOf('notifier'),
      CALLBACK_PUBLIC_URL: `http://${host}:${placed[0]?.callbackPort}`,
      CALLBACK_PORT: String(callbackPort),
      GATEWAY_PORT: String(port),
      GATEWAY_METRICS_PORT: String(metricsPort),
      // Of the caller's address they believe the front door.
      TRUSTED_PROXIES: service === 'api' ? '' : `${host}/32`,
      // An index for each.
      TOLLGATE_INSTANCE: index === 0 ? '' : `services-${index + 1}`,
    };
    const known = Object.entries(all).filter(([name]) => variablesOf(service).includes(name));
    const label = instances === 1 ? service : `${service}-${index + 1}`;
    const env = { ...programEnvironment(), ...(Object.fromEntries(known) as Record<string, string>) };
    return { label, service, port, metricsPort, env };
  });
}

/** An accounts file for the sandbox, as a gateway in production has one. */
function writeAccounts(
  folder: string,
  { httpsUrl, caFile, key }: Sandbox,
  failuresInARowMax: number,
): string {
  const privateKeyFile = 'payment-service-key';
  writeFileSync(join(folder, privateKeyFile), key.reveal(), { mode: 0o600 });
  const named = { name: 'sandbox', environment: 'sandbox', baseUrl: httpsUrl, privateKeyFile, caFile };
  const account = { ...named, callsPerSecondMax: 10_000, failuresInARowMax };
  const file = join(folder, 'sandbox-accounts.json');
  writeFileSync(file, JSON.stringify({ accounts: [account] }), { mode: 0o600 });
  return file;
}

function createGroup(listFile: string) {
  const pids = new Map<Planned, number>();
  const stopping = new AbortController();
  const ends = new Map<Planned, { stop(): void; ended: Promise<unknown> }>();

  function list(): void {
    const entries = [...pids].map(([{ env: _, ...planned }, pid]) => ({ ...planned, pid }));
    writeFileSync(`${listFile}.next`, JSON.stringify(entries));
    renameSync(`${listFile}.next`, listFile);
  }

  function run(planned: Planned, onReady: () => void): void {
    const child = spawn(process.execPath, [program, planned.service], {
      env: planned.env,
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const ended = once(child, 'exit');
    ends.set(planned, { stop: () => void child.kill(), ended });
    pids.set(planned, child.pid ?? 0);
    list();
    createInterface({ input: child.stdout }).on('line', (line) => {
      process.stdout.write(`${line}\n`);
      if (line.startsWith(`${planned.service}: ready`)) onReady();
    });
    void ended.then(() => setTimeout(() => stopping.signal.aborted || run(planned, onReady), restartAfterMs));
  }

  return {
    /** Resolves when it serves. */
    start: (planned: Planned) => new Promise<void>((resolve) => run(planned, resolve)),
    async stop() {
      stopping.abort();
      for (const services of stopOrder)
        await Promise.all(
          [...ends].map(async ([{ service }, { stop, ended }]) => {
            if (!services.includes(service)) return;
            stop();
            await ended;
          }),
        );
    },
  };
}

process.umask(0o077);
const config = readConfig(gatewayConfigSchema, process.env);
const logOf = (service: string) => createLog(service, config.logLevel);
const deps = { config, clock: systemClock, ids: systemIds, logOf, env: process.env, pid: process.pid };
const directory = openDataDirectory(config.dataDir);
const group = createGroup(join(directory.path, 'processes.json'));
const stops = new AsyncDisposableStack();
process.once('SIGTERM', () => {
  void group
    .stop()
    .then(() => stops.disposeAsync())
    .then(() => process.exit());
});
const sandbox = await openSandbox(deps, directory, stops);
openTeamKeys(config.teamSigning, directory, { mayInstall: true }).install();
const demo = new AsyncDisposableStack();
const { key } = await demoKey(
  createParts(deps, { dataDirectory: directory, stops: demo, runs: () => false }),
);
await demo.disposeAsync();
const planned = await plan(config, {
  TOLLGATE_DATA_DIR: directory.path,
  PROVIDER_ACCOUNTS_FILE: writeAccounts(directory.path, sandbox, config.failuresInARowMax),
});
await Promise.all(planned.map(group.start));
const frontDoor = planned.find(({ service }) => service === 'api');
const metricsUrl = `http://${host}:${frontDoor?.metricsPort}`;
directory.writeQuickstart({
  gatewayUrl: `http://${host}:${frontDoor?.port}`,
  callbackUrl: planned.find(({ service }) => service === 'command-service')?.env['CALLBACK_PUBLIC_URL'] ?? '',
  metricsUrl,
  ...omitUndefined({ apiKey: key?.reveal() }),
  ...quickstartFieldsOf(sandbox),
  pid: process.pid,
});
await eventually(async () => {
  if (!(await fetch(`${metricsUrl}/readyz`)).ok) throw new Error('the front door is not ready');
});
process.stdout.write(`Tollgate is ready: ${directory.quickstartFile}\n`);
