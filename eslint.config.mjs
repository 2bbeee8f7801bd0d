import nx from '@nx/eslint-plugin';
import prettier from 'eslint-config-prettier';
import { defineConfig } from 'eslint/config';
import { builtinRules } from 'eslint/use-at-your-own-risk';
import tseslint from 'typescript-eslint';

// Who may import whom; which package may be imported where; where time and randomness come from; how code reads.
// CONTRIBUTING.md says why. infra/lint-canaries.ts breaks each rule once and expects ESLint to report it.

const specs = ['**/*.spec.ts', '**/*.contract.ts', '**/e2e/**'];
const tests = [...specs, '**/testing/**', '**/bench/**'];
const entryPoints = ['**/main.ts'];
const kafkaAdapter = 'libs/message-bus/src/kafka*{,/**}';
const eventStoreDbAdapter = 'libs/event-store/src/eventstoredb*{,/**}';
/** Speaks the protocol from the other side, by the definitions that the client brings. */
const eventStoreDbTestServer = 'libs/event-store/src/testing/eventstoredb-server/**';
/** What browsers run: their time and their randomness are nobody's to replay. */
const browserScripts = 'services/*/src/**/static/**';
const adapters = [
  'libs/service-kit/src/{clock,ids}.ts',
  'libs/event-store/src/waits.ts',
  'libs/{event-store,message-bus}/src/embedded*{,/**}',
  'libs/**/src/**/*worker*.ts',
  eventStoreDbAdapter,
  kafkaAdapter,
];

/**
 * ESLint's `no-restricted-…` rules keep the options of the last block that matches a file and forget the others, so two
 * policies under one rule silently disarm each other. Here each policy is a core rule under a name of its own.
 */
const tollgate = {
  rules: Object.fromEntries(
    Object.entries({
      'one-home-per-client': 'no-restricted-imports',
      'testing-from-specs-only': 'no-restricted-imports',
      'wire-library-at-the-wire-only': 'no-restricted-imports',
      'no-dynamic-import': 'no-restricted-syntax',
      'no-ambient-globals': 'no-restricted-globals',
      'no-ambient-members': 'no-restricted-properties',
      'no-ambient-dates': 'no-restricted-syntax',
      'no-ambient-imports': 'no-restricted-imports',
      'environment-in-main-only': 'no-restricted-properties',
      'pure-domain-imports': 'no-restricted-imports',
      'pure-domain-globals': 'no-restricted-globals',
      'no-default-export': 'no-restricted-syntax',
      'no-object-literal-spread': 'no-restricted-syntax',
    }).map(([name, coreRule]) => [name, builtinRules.get(coreRule)]),
  ),
};

// Who may import whom, from the bottom to the top: the kit, the core, the books, the floor, the modules, and what composes
// them. A project that is missing here may import no other one; `type:testing` is further limited below.
const kit = ['scope:service-kit', 'scope:accounts', 'scope:event-store', 'type:testing'];
const core = [...kit, 'scope:core'];
const books = [...core, 'scope:books'];
const floor = [
  ...books,
  'scope:message-bus',
  'scope:payment-api',
  'scope:gateway-api',
  'scope:teams',
  'scope:views',
];
const anyLibrary = ['type:lib', 'type:testing'];
const anyProject = ['type:lib', 'type:service', 'type:testing'];
const modules = [
  ...['adoption', 'approvals', 'callbacks', 'disputes', 'inquiry-schedule', 'lists'],
  ...['merchant-accounts', 'reconciliation', 'requests', 'topics', 'wallets', 'webhooks'],
];
const mayImport = {
  workspace: [],
  testing: [],
  conformance: ['type:testing'],
  'service-kit': ['type:testing'],
  accounts: ['scope:service-kit', 'type:testing'],
  'event-store': ['scope:service-kit', 'type:testing'],
  'message-bus': ['scope:event-store', 'scope:service-kit', 'type:testing'],
  core: kit,
  books: core,
  'payment-api': core,
  provider: [...core, 'scope:payment-api'],
  teams: core,
  'gateway-api': [...books, 'scope:payment-api', 'scope:teams'],
  views: floor,
  ...Object.fromEntries(modules.map((name) => [name, floor])),
  ...Object.fromEntries(
    ['callback-ingester', 'command-service', 'console', 'payment-service', 'projector', 'query-service'].map(
      (name) => [name, anyLibrary],
    ),
  ),
  gateway: anyProject,
  cli: anyProject,
  documentation: ['scope:gateway', 'scope:gateway-api'],
  simulation: anyProject,
};

const boundaries = {
  plugins: { '@nx': nx },
  rules: {
    '@nx/enforce-module-boundaries': [
      'error',
      {
        banTransitiveDependencies: true,
        // Loading a project lazily in one place does not forbid importing it in another.
        checkDynamicDependenciesExceptions: ['.*'],
        depConstraints: Object.entries(mayImport).map(([project, tags]) => ({
          sourceTag: `scope:${project}`,
          onlyDependOnLibsWithTags: tags,
        })),
      },
    ],
  },
};

// Which package may be imported where.
const clientHomes = { kafkajs: kafkaAdapter, '@eventstore/db-client': eventStoreDbAdapter };
const clientGuests = {
  '@eventstore/db-client': [eventStoreDbTestServer, 'services/gateway/bench/bare-chain.ts'],
};

const clientsBut = (allowedClient) => [
  'error',
  {
    patterns: Object.entries(clientHomes)
      .filter(([client]) => client !== allowedClient)
      .map(([client, home]) => ({
        regex: `^${client}(/|$)`,
        message: `Use the port: only ${home} may know it.`,
      })),
  },
];

// Takes long to load, and most processes do without: loaded where it is used.
const loadedWhereUsed = [
  '@fastify/reply-from',
  '@tollgate/event-store/eventstoredb',
  '@tollgate/message-bus/kafka',
  '@tollgate/payment-service',
  'selfsigned',
];

const imports = [
  { rules: { 'tollgate/one-home-per-client': clientsBut(undefined) } },
  ...Object.entries(clientHomes).map(([client, home]) => ({
    files: [home, ...(clientGuests[client] ?? [])],
    rules: { 'tollgate/one-home-per-client': clientsBut(client) },
  })),
  {
    // The rules on imports read `import` statements only.
    ignores: [...entryPoints, ...adapters, ...tests, 'infra/**'],
    rules: {
      'tollgate/no-dynamic-import': [
        'error',
        {
          selector: `ImportExpression:not(${loadedWhereUsed.map((name) => `[source.value="${name}"]`).join(',')})`,
          message: 'Import it at the top, or load it in main.ts or in its adapter.',
        },
      ],
    },
  },
  {
    ignores: [...specs, '**/testing/**'],
    rules: {
      'tollgate/testing-from-specs-only': [
        'error',
        {
          patterns: [
            { regex: '^@tollgate/(testing$|.+/testing$)', message: 'Only specs and contract suites use it.' },
          ],
        },
      ],
    },
  },
  {
    files: ['libs/{core,gateway-api,modules}/**', 'services/console/**'],
    ignores: [...specs, 'libs/gateway-api/src/http/**'],
    rules: {
      'tollgate/wire-library-at-the-wire-only': [
        'error',
        { name: '@tollgate/payment-api', message: 'Import @tollgate/core/money.' },
      ],
    },
  },
];

// Time, identifiers, randomness and configuration come in as parameters, so that a simulation can replay a run by its seed.
const takeClock = { message: 'Take a Clock as a parameter.' };
const takeIds = { message: 'Take Ids as a parameter.' };
const withNodePrefix = (name) => [name, `node:${name}`];
const randomExports = [
  'randomBytes',
  'randomFill',
  'randomFillSync',
  'randomInt',
  'randomUUID',
  'getRandomValues',
];

const ambient = {
  ignores: [...entryPoints, ...adapters, ...tests, browserScripts, 'infra/**'],
  rules: {
    'tollgate/no-ambient-globals': [
      'error',
      {
        globals: ['setTimeout', 'setInterval', 'performance'].map((name) => ({ name, ...takeClock })),
        checkGlobalObject: true,
      },
    ],
    'tollgate/no-ambient-members': [
      'error',
      { object: 'Date', property: 'now', ...takeClock },
      { object: 'AbortSignal', property: 'timeout', ...takeClock },
      { object: 'process', property: 'hrtime', ...takeClock },
      { object: 'Math', property: 'random', ...takeIds },
      { object: 'crypto', property: 'randomUUID', ...takeIds },
      { object: 'crypto', property: 'getRandomValues', ...takeIds },
    ],
    'tollgate/no-ambient-dates': [
      'error',
      { selector: 'NewExpression[callee.name="Date"][arguments.length=0]', ...takeClock },
      { selector: 'CallExpression[callee.name="Date"]', ...takeClock },
    ],
    'tollgate/no-ambient-imports': [
      'error',
      ...['timers', 'timers/promises', 'perf_hooks']
        .flatMap(withNodePrefix)
        .map((name) => ({ name, ...takeClock })),
      ...withNodePrefix('crypto').map((name) => ({
        name,
        importNames: ['default', 'webcrypto', ...randomExports],
        ...takeIds,
      })),
    ],
  },
};

const environment = {
  ignores: [...entryPoints, ...tests, 'infra/**', '*.config.*'],
  rules: {
    'tollgate/environment-in-main-only': [
      'error',
      {
        object: 'process',
        property: 'env',
        message: 'Only main.ts reads the environment, and passes on what it read.',
      },
    ],
  },
};

// The domain is pure: it has a list of what it may import, and needs nothing of its surroundings.
const domainPackages = [
  ...['zod', 'xstate', '@tollgate/event-store/schema-version'],
  ...['card-number', 'environment', 'errors', 'omit-undefined'].map(
    (file) => `@tollgate/service-kit/${file}`,
  ),
];
const domainSpecPackages = [...domainPackages, '@tollgate/testing', 'vitest', 'fast-check'];
const surroundings = [
  ...['Buffer', 'Date', 'console', 'crypto', 'fetch', 'performance', 'process', 'queueMicrotask'],
  ...['setImmediate', 'setInterval', 'setTimeout'],
];

const onlyImports = (packages) => [
  'error',
  {
    patterns: [
      {
        regex: `^(?!\\.{1,2}/|(${packages.join('|')})$)`,
        message: `The domain imports its own files and ${packages.join(', ')}.`,
      },
      {
        regex:
          '^(\\.\\./)+((aggregates|inquiry|operations|outbound)/|(accounts|core|provider)\\.ts$|testing/(harness|fake))',
        message: 'The domain imports nothing that does I/O; its specs run alone under mutation.',
      },
    ],
  },
];

const pureDomain = [
  {
    files: ['libs/core/src/domain/**'],
    rules: { 'tollgate/pure-domain-imports': onlyImports(domainSpecPackages) },
  },
  {
    files: ['libs/core/src/domain/**'],
    ignores: specs,
    rules: {
      'tollgate/pure-domain-imports': onlyImports(domainPackages),
      'tollgate/pure-domain-globals': [
        'error',
        {
          globals: surroundings.map((name) => ({
            name,
            message: 'The domain is pure: let it come in with the command.',
          })),
          checkGlobalObject: true,
        },
      ],
    },
  },
];

// How code reads. What the compiler finds by itself is not repeated here.
const exportByName = { message: 'Export it by its name.' };
const style = [
  {
    rules: {
      eqeqeq: 'error',
      'max-lines': ['error', { max: 400, skipBlankLines: true, skipComments: true }],
      'max-lines-per-function': ['error', { max: 80, skipBlankLines: true, skipComments: true }],
      'no-empty': 'error',
      'no-param-reassign': 'error',
      'no-unsafe-finally': 'error',
      'no-useless-assignment': 'error',
      'object-shorthand': 'error',
      'tollgate/no-object-literal-spread': [
        'error',
        {
          selector: 'ObjectExpression > SpreadElement > ObjectExpression',
          message: 'Write the properties themselves.',
        },
      ],
    },
  },
  {
    // A table of cases is read in rows.
    files: specs,
    rules: { 'max-lines': ['error', { max: 600, skipBlankLines: true, skipComments: true }] },
  },
  {
    ignores: ['*.config.*'],
    rules: {
      'tollgate/no-default-export': [
        'error',
        { selector: 'ExportDefaultDeclaration', ...exportByName },
        { selector: 'ExportSpecifier[exported.name="default"]', ...exportByName },
      ],
    },
  },
];

const types = [
  {
    files: ['**/*.ts'],
    extends: [tseslint.configs.strictTypeChecked],
    languageOptions: { parserOptions: { projectService: true, tsconfigRootDir: import.meta.dirname } },
    rules: {
      '@typescript-eslint/consistent-type-imports': ['error', { fixStyle: 'inline-type-imports' }],
      '@typescript-eslint/naming-convention': [
        'error',
        { selector: 'typeLike', format: ['PascalCase'], custom: { regex: '^I[A-Z]', match: false } },
      ],
      '@typescript-eslint/no-unused-vars': ['error', { argsIgnorePattern: '^_', ignoreRestSiblings: true }],
      '@typescript-eslint/switch-exhaustiveness-check': [
        'error',
        { considerDefaultExhaustiveForUnions: true },
      ],
      '@typescript-eslint/no-confusing-void-expression': [
        'error',
        { ignoreArrowShorthand: true, ignoreVoidReturningFunctions: true },
      ],
      '@typescript-eslint/restrict-template-expressions': ['error', { allowNumber: true }],
      // The reason of an AbortSignal is handed on as it came.
      '@typescript-eslint/prefer-promise-reject-errors': [
        'error',
        { allowThrowingAny: true, allowThrowingUnknown: true },
      ],
      '@typescript-eslint/only-throw-error': [
        'error',
        { allowThrowingAny: true, allowThrowingUnknown: true },
      ],
      // It does not see that `signal.aborted`, or what a closure sets, is another after an `await`.
      '@typescript-eslint/no-unnecessary-condition': 'off',
      // `async` without `await` makes a throw a rejection, which is what a port promises.
      '@typescript-eslint/require-await': 'off',
      // They took a third of the time, and found nothing: `erasableSyntaxOnly` allows no enum of our own, and our classes are
      // errors, or have a private field.
      '@typescript-eslint/no-unsafe-class-instance-assignment': 'off',
      '@typescript-eslint/no-unsafe-enum-assignment': 'off',
      '@typescript-eslint/no-unsafe-enum-comparison': 'off',
      // Our objects are closures without `this`: taking a function out of one is how dependencies are passed.
      '@typescript-eslint/unbound-method': 'off',
    },
  },
  {
    files: tests,
    rules: {
      'max-lines': ['error', { max: 800, skipBlankLines: true, skipComments: true }],
      'max-lines-per-function': 'off',
      // Matchers and parsed bodies are `any`; a wrong guess fails the spec.
      '@typescript-eslint/no-unsafe-argument': 'off',
      '@typescript-eslint/no-unsafe-assignment': 'off',
      '@typescript-eslint/no-unsafe-call': 'off',
      '@typescript-eslint/no-unsafe-member-access': 'off',
      '@typescript-eslint/no-unsafe-return': 'off',
      '@typescript-eslint/no-non-null-assertion': 'off',
    },
  },
];

export default defineConfig(
  { ignores: ['.nx', '.data', '.cache', '**/coverage'] },
  { linterOptions: { reportUnusedDisableDirectives: 'error' }, plugins: { tollgate } },
  boundaries,
  imports,
  ambient,
  environment,
  pureDomain,
  style,
  types,
  prettier,
);
