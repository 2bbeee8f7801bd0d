/** A file that violates one rule, or one where the rule must not report anything. */
export interface Canary {
  /** The rule under test. */
  rule: string;
  /** Path of the planted file, from the root of the workspace. */
  file: string;
  code: string;
  /** Part of the rule's message, if the rule has several. */
  says?: string;
}

let planted = 0;

/** Plants `code` in `folder` under a name of its own that has `prefix` and `suffix` for the rules' globs. */
function canary(
  rule: string,
  folder: string,
  code: string,
  rest: { says?: string; name?: string } = {},
): Canary {
  planted += 1;
  const { name = 'canary-*.ts', ...says } = rest;
  return { rule, file: `${folder}/${name.replace('*', String(planted))}`, code, ...says };
}

const boundary = '@nx/enforce-module-boundaries';
const core = 'libs/core/src';
const domain = 'libs/core/src/domain';
const service = 'services/projector/src';
const messageBus = 'libs/message-bus/src';
const gatewayApi = 'libs/gateway-api/src';
const eventStoreTesting = 'libs/event-store/src/testing';

const take = (name: string, from: string) =>
  `import { ${name} } from '${from}';\nexport const taken = ${name};`;
const loadKafka = "import('@tollgate/message-bus/kafka')";
const lines = (count: number, line: string) => Array.from({ length: count }, () => line).join('\n');

const boundaryFaults = [
  canary(boundary, messageBus, "export * from '@tollgate/conformance';", { says: 'can only depend on' }),
  canary(boundary, service, "export * from '@tollgate/query-service';", { says: 'can only depend on' }),
  canary(boundary, core, "export * from '@tollgate/conformance';", { says: 'can only depend on' }),
  canary(boundary, core, "export * from '@tollgate/message-bus';", { says: 'can only depend on' }),
  canary(boundary, 'libs/modules/wallets/src', "export * from '@tollgate/lists';", {
    says: 'can only depend on',
  }),
  // An upward dependency closes a cycle.
  ...['@tollgate/gateway-api', '@tollgate/lists', '@tollgate/provider'].map((climbing) =>
    canary(boundary, core, `export * from '${climbing}';`, { says: 'Circular dependency' }),
  ),
  canary(boundary, 'libs/modules/teams/src', "export * from '@tollgate/webhooks';", {
    says: 'Circular dependency',
  }),
  canary(boundary, 'libs/testing/src', "export * from '@tollgate/service-kit';", {
    says: 'cannot depend on any libs',
  }),
  canary(boundary, 'infra', "export * from '@tollgate/service-kit';", { says: 'cannot depend on any libs' }),
  canary(boundary, service, "export * from '../../../libs/service-kit/src/clock.ts';", { says: 'relative' }),
  canary(boundary, service, "export * from 'acorn';", { says: 'Transitive' }),
  canary(boundary, core, "export const load = () => import('@tollgate/conformance');", {
    says: 'can only depend on',
  }),
];

const importFaults = [
  canary('tollgate/one-home-per-client', service, take('Kafka', 'kafkajs')),
  canary('tollgate/one-home-per-client', messageBus, take('Kafka', 'kafkajs')),
  canary(
    'tollgate/one-home-per-client',
    messageBus,
    "export * from '@eventstore/db-client/generated/streams_grpc_pb';",
    {
      name: 'kafka-canary-*.ts',
    },
  ),
  canary('tollgate/one-home-per-client', 'libs/event-store/src', take('Kafka', 'kafkajs'), {
    name: 'eventstoredb-canary-*.ts',
  }),
  canary(
    'tollgate/one-home-per-client',
    eventStoreTesting,
    take('EventStoreDBClient', '@eventstore/db-client'),
  ),
  canary(
    'tollgate/one-home-per-client',
    `${eventStoreTesting}/eventstoredb-server`,
    take('Kafka', 'kafkajs'),
  ),
  canary('tollgate/no-dynamic-import', messageBus, "export const load = () => import('kafkajs');"),
  canary('tollgate/testing-from-specs-only', service, "export * from '@tollgate/testing';"),
  canary('tollgate/testing-from-specs-only', service, "export * from '@tollgate/event-store/testing';"),
  canary('tollgate/wire-library-at-the-wire-only', gatewayApi, "export * from '@tollgate/payment-api';"),
];

const domainFaults = [
  canary('tollgate/pure-domain-imports', domain, take('readFileSync', 'node:fs')),
  canary('tollgate/pure-domain-imports', domain, take('readFileSync', 'fs')),
  canary('tollgate/pure-domain-imports', domain, take('fetch', 'undici')),
  canary('tollgate/pure-domain-imports', domain, "export * from '@tollgate/payment-api';"),
  canary('tollgate/pure-domain-imports', domain, take('readFileSync', 'node:fs'), {
    name: 'canary-*.spec.ts',
  }),
  canary('tollgate/pure-domain-imports', domain, "export * from '../testing/harness.ts';", {
    name: 'canary-*.spec.ts',
  }),
  canary('tollgate/pure-domain-globals', domain, 'export const at = Date.now();'),
  canary('tollgate/pure-domain-globals', domain, 'export const at = new Date(0);'),
  canary('tollgate/pure-domain-globals', domain, 'export const where = globalThis.process;'),
  canary('tollgate/no-ambient-members', domain, 'export const chance = Math.random();'),
];

const ambientFaults = [
  canary('tollgate/no-ambient-globals', service, 'setTimeout(() => {}, 10);'),
  canary('tollgate/no-ambient-globals', service, 'globalThis.setInterval(() => {}, 10);'),
  canary('tollgate/no-ambient-globals', service, 'export const at = performance.now();'),
  canary('tollgate/no-ambient-members', service, 'export const at = Date.now();'),
  canary('tollgate/no-ambient-members', service, 'export const { now } = Date;'),
  canary('tollgate/no-ambient-members', service, 'export const chance = Math.random();'),
  canary('tollgate/no-ambient-members', service, 'export const id = crypto.randomUUID();'),
  canary('tollgate/no-ambient-members', service, 'export const deadline = AbortSignal.timeout(10);'),
  canary('tollgate/no-ambient-dates', service, 'export const at = new Date();'),
  canary('tollgate/no-ambient-imports', service, take('randomUUID', 'node:crypto')),
  canary('tollgate/no-ambient-imports', service, take('randomBytes', 'crypto')),
  canary('tollgate/no-ambient-imports', service, take('setTimeout', 'node:timers/promises')),
  canary('tollgate/environment-in-main-only', service, "export const home = process.env['HOME'];"),
];

const styleFaults = [
  canary('tollgate/no-object-literal-spread', service, 'export const both = { ...{ one: 1, two: 2 } };'),
  canary('tollgate/no-default-export', service, 'export default 1;'),
  canary('tollgate/no-default-export', 'infra', 'const one = 1;\nexport { one as default };'),
  canary(
    '@typescript-eslint/no-explicit-any',
    service,
    'export const anything = (value: any): unknown => value;',
  ),
  canary('@typescript-eslint/no-floating-promises', service, 'Promise.resolve(1);'),
  canary(
    '@typescript-eslint/consistent-type-imports',
    service,
    "import { Canary } from './canary.ts';\nexport type C = Canary;",
  ),
  canary('@typescript-eslint/naming-convention', service, 'export interface ICanary { song: string }'),
  canary('no-empty', service, 'try {\n  process.cwd();\n} catch {}'),
  canary('max-lines', service, lines(401, 'process.cwd();')),
  canary('max-lines-per-function', service, `export function sing() {\n${lines(80, 'process.cwd();')}\n}`),
];

/** Each must be reported, as an error, by its rule. */
export const faults: Canary[] = [
  ...boundaryFaults,
  ...importFaults,
  ...domainFaults,
  ...ambientFaults,
  ...styleFaults,
];

/** The same code in its allowed places: its rule must not report it. */
export const allowed: Canary[] = [
  canary('tollgate/pure-domain-imports', domain, take('setup', 'xstate')),
  canary('tollgate/pure-domain-imports', domain, take('it', 'vitest'), { name: 'canary-*.spec.ts' }),
  canary('tollgate/one-home-per-client', messageBus, take('Kafka', 'kafkajs'), { name: 'kafka-canary-*.ts' }),
  canary(
    'tollgate/one-home-per-client',
    `${eventStoreTesting}/eventstoredb-server`,
    "export * from '@eventstore/db-client/generated/streams_pb.js';",
  ),
  canary('tollgate/no-dynamic-import', service, `export const load = () => ${loadKafka};`),
  canary('tollgate/testing-from-specs-only', service, "export * from '@tollgate/testing';", {
    name: 'canary-*.spec.ts',
  }),
  canary('tollgate/no-ambient-members', messageBus, 'export const at = Date.now();', {
    name: 'embedded-canary-*.ts',
  }),
  canary('tollgate/no-ambient-members', service, 'export const at = Date.now();', {
    name: 'canary-*.spec.ts',
  }),
  canary('tollgate/no-ambient-members', service, 'export const at = Date.now();', {
    name: 'e2e/canary-*.ts',
  }),
  canary('tollgate/no-ambient-members', service, 'export const at = Date.now();', {
    name: 'canary-*/main.ts',
  }),
  canary('tollgate/no-ambient-imports', service, take('createHmac', 'node:crypto')),
  canary('tollgate/no-ambient-dates', service, 'export const at = new Date(0);'),
  canary('tollgate/environment-in-main-only', service, "export const home = process.env['HOME'];", {
    name: 'canary-*/main.ts',
  }),
];
