import { defineConfig, type TestProjectInlineConfiguration } from 'vitest/config';
import { compileCache } from './infra/compile-cache.ts';

const specs = '{libs,services,infra}/**/*.spec.ts';
const realSpecs = '{libs,services,infra}/**/*.int.spec.ts';
const endToEnd = 'services/gateway/e2e/**/*.spec.ts';
/** What needs a server, or takes minutes, has a project and a command of its own. */
const withServers = '**/*.{kafka,eventstoredb,kubernetes,containers,upgrades,samples,clients}.int.spec.ts';
const faults = '**/*.faults.int.spec.ts';
const elsewhere = [withServers, faults];
const notOurs = '**/node_modules/**';

/** Of the specs of faults, that of the specification runs in front of every process, store and bus at once, too. */
const notRearranged = (name: string) => [
  withServers,
  name === 'services-eventstoredb-kafka' ? '**/!(conformance).faults.int.spec.ts' : faults,
  // It starts no system.
  '**/tail.int.spec.ts',
];

type TestOptions = NonNullable<TestProjectInlineConfiguration['test']>;

const project = (name: string, options: TestOptions) => ({
  extends: true as const,
  test: { name, ...options },
});

/** Whole systems and servers, which `npm test` does not start. */
const slowProject = (name: string, include: string | string[], options: TestOptions = {}) =>
  project(name, { include: [include].flat(), ...options });

// Their files share a worker and what it has imported. Many wait now and then, which leaves room for a third.
const shared = { isolate: false, maxWorkers: 3 };

// `npm test` runs the projects `pure` and `real`; `npm run test:<name>` each of the others.
const ofNpmTest = { project: ['pure', 'real'] };

export default defineConfig({
  test: {
    ...ofNpmTest,
    projects: [
      project('pure', { include: [specs], exclude: [notOurs, realSpecs, endToEnd], ...shared }),
      project('real', { include: [realSpecs, endToEnd], exclude: [notOurs, ...elsewhere], ...shared }),
      slowProject('faults', 'services/**/*.faults.int.spec.ts'),
      slowProject('kafka', '{libs,services}/**/*.kafka.int.spec.ts'),
      slowProject('eventstoredb', '{libs,services}/**/*.eventstoredb.int.spec.ts', { maxWorkers: 1 }),
      slowProject('kubernetes', 'services/**/*.kubernetes.int.spec.ts'),
      slowProject('upgrades', 'services/**/*.upgrades.int.spec.ts'),
      // Most of them take both cores.
      slowProject('clients', '{libs,services}/**/*.clients.int.spec.ts', {
        maxWorkers: 1,
        maxConcurrency: 2,
        testTimeout: 600_000,
      }),
      // They start compilers: more than one at a time gains nothing.
      slowProject('samples', 'services/**/*.samples.int.spec.ts', { maxWorkers: 1 }),
      // Each file has a browser of its own.
      slowProject('browser', 'services/*/e2e/**/*.browser.ts', { maxWorkers: 1 }),
      // The shipped containers, and the suites of both ports against servers in containers.
      slowProject(
        'containers',
        [
          'services/gateway/e2e/**/*.containers.int.spec.ts',
          'libs/event-store/src/eventstoredb/eventstoredb-event-store.eventstoredb.int.spec.ts',
          'libs/message-bus/src/kafka/kafka-message-bus.kafka.int.spec.ts',
        ],
        { maxWorkers: 1 },
      ),
      // `npm run test:arrangements`. Each system is up to ten processes.
      ...['services', 'one-process-eventstoredb', 'services-eventstoredb-kafka'].map((name) =>
        slowProject(name, 'services/gateway/e2e/**/*.int.spec.ts', {
          exclude: notRearranged(name),
          env: { TOLLGATE_ARRANGEMENT: name },
          maxWorkers: 1,
          hookTimeout: 180_000,
        }),
      ),
    ],
    env: compileCache,
    passWithNoTests: false,
    allowOnly: false,
    // Two cores are the measure: with more, the load of one suite is late for the limits of another.
    maxWorkers: 2,
    // As long as a busy machine needs: nothing waits for them but that.
    testTimeout: 60_000,
    hookTimeout: 60_000,
    expect: { poll: { timeout: 15_000, interval: 20 } },
  },
});
