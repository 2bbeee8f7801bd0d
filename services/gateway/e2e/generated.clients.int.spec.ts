/**
 * `npm run test:clients`: the common generators create clients from `/openapi.json`. Each client is compiled, and
 * makes, refunds and reads a payment. The amounts do not fit into 32 bits, and answers have a field that the client
 * does not know.
 */
import { execFile } from 'node:child_process';
import { copyFileSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { issueKey } from './commands.ts';
import { type System, newDataDir, startSystem, stopEverything } from './system.ts';

const workspace = join(import.meta.dirname, '..', '..', '..');
const setting = (name: string): string => {
  const value = process.env[name];
  if (value === undefined) throw new Error(`${name} is not set; npm run test:clients sets it.`);
  return value;
};

interface Client {
  /** The program that uses the client, and its place in the folder. */
  program: readonly [from: string, to: string];
  /** Further files of the folder. */
  files?: Readonly<Record<string, string>>;
  /** Generate, compile and run, in this order. The last one gets the URL, the key and an order number. */
  commands: readonly (readonly string[])[];
  env?: Readonly<Record<string, string>>;
}

const openApiGenerator = (generator: string, out: string, ...more: string[]) => [
  ...['java', '-jar', setting('OPENAPI_GENERATOR'), 'generate', '-i', 'openapi.json'],
  ...['-g', generator, '-o', out, ...more],
  '--global-property=apiTests=false,modelTests=false,apiDocs=false,modelDocs=false',
];

/** Without it, clients for Go and okhttp-gson reject answers with newer fields. */
const openToFields = '--additional-properties=disallowAdditionalPropertiesIfNotPresent=false';

const java = (library: string, create: string): Client => ({
  program: ['Pay.java', 'client/src/main/java/Pay.java'],
  files: {
    'client/src/main/java/Client.java': `import org.openapitools.client.ApiClient;\nclass Client { static ApiClient create(String url, String key) { ${create} } }\n`,
  },
  commands: [
    openApiGenerator('java', 'client', '--library', library, openToFields),
    [
      ...['mvn', '-q', '-B', '-f', 'client/pom.xml', 'compile'],
      'org.apache.maven.plugins:maven-dependency-plugin:3.6.0:copy-dependencies',
    ],
    ['java', '-cp', 'client/target/classes:client/target/dependency/*', 'Pay'],
  ],
});

const goModule = (own: string) => `module example.org/pay\n\ngo 1.25\n\n${own}`;

const clients: Readonly<Record<string, () => Client>> = {
  'openapi-generator, Java native': () =>
    java(
      'native',
      'ApiClient client = new ApiClient(); client.updateBaseUri(url); client.setRequestInterceptor(request -> request.header("Authorization", "Bearer " + key)); return client;',
    ),
  'openapi-generator, Java okhttp-gson': () =>
    java(
      'okhttp-gson',
      'ApiClient client = new ApiClient(); client.setBasePath(url); client.setBearerToken(key); return client;',
    ),
  'openapi-generator, Go': () => ({
    program: ['go_pay.go', 'main.go'],
    files: {
      'go.mod': goModule('require example.org/tollgate v0.0.0\nreplace example.org/tollgate => ./client\n'),
    },
    commands: [
      openApiGenerator('go', 'client', `${openToFields},packageName=tollgate`),
      [
        'sh',
        '-c',
        'rm -rf client/test client/go.sum && cd client && go mod edit -module example.org/tollgate && go mod tidy',
      ],
      ['go', 'mod', 'tidy'],
      ['go', 'run', '.'],
    ],
  }),
  'oapi-codegen': () => ({
    program: ['oapi_pay.go', 'main.go'],
    files: {
      'go.mod': goModule('require example.org/tollgate v0.0.0\nreplace example.org/tollgate => ./client\n'),
      'client/go.mod':
        'module example.org/tollgate\n\ngo 1.25\n\nrequire github.com/oapi-codegen/runtime v1.9.0\n',
    },
    commands: [
      [
        setting('OAPI_CODEGEN'),
        '-package',
        'tollgate',
        '-generate',
        'types,client',
        '-o',
        'client/tollgate.go',
        'openapi.json',
      ],
      ['sh', '-c', 'cd client && go mod tidy'],
      ['go', 'mod', 'tidy'],
      ['go', 'run', '.'],
    ],
  }),
  'openapi-python-client': () => ({
    program: ['pay.py', 'client/pay.py'],
    commands: [
      [
        'python3',
        '-m',
        'openapi_python_client',
        'generate',
        '--path',
        'openapi.json',
        '--output-path',
        'client',
        '--overwrite',
        '--fail-on-warning',
        '--config',
        'config.json',
      ],
      ['python3', 'client/pay.py'],
    ],
    files: { 'config.json': '{"package_name_override":"tollgate_client","post_hooks":[]}' },
    env: { PYTHONPATH: setting('OPENAPI_PYTHON_CLIENT') },
  }),
  'openapi-generator, typescript-fetch': () => ({
    program: ['pay.ts.txt', 'pay.ts'],
    files: { 'package.json': '{"type":"module"}' },
    commands: [
      openApiGenerator('typescript-fetch', 'client', '--additional-properties=importFileExtension=.js'),
      [
        ...[
          join(workspace, 'node_modules', '.bin', 'tsc'),
          '--strict',
          '--ignoreConfig',
          '--target',
          'es2022',
        ],
        ...['--module', 'nodenext', '--lib', 'es2023,dom', '--types', 'node', 'pay.ts'],
      ],
      ['node', 'pay.js'],
    ],
  }),
};

let system: System;
let key: string;
let openapi: string;

beforeAll(async () => {
  system = await startSystem();
  key = await issueKey(system, 'demo', 'payments,cards,stored-cards,refunds,read');
  openapi = withoutRevision(await (await fetch(`${system.quickstart.gatewayUrl}/openapi.json`)).text());
});
afterAll(stopEverything);

/** The document of a simulated earlier release: answers have a field that its clients do not know. */
function withoutRevision(text: string): string {
  const document = JSON.parse(text) as {
    components: { schemas: Record<string, { properties: Record<string, unknown>; required: string[] }> };
  };
  for (const name of ['Payment', 'PaymentOrPayout']) {
    const schema = document.components.schemas[name];
    if (schema === undefined) throw new Error(`${name} is not in the document`);
    expect(schema.required).toContain('revision');
    delete schema.properties['revision'];
    schema.required = schema.required.filter((field) => field !== 'revision');
  }
  return JSON.stringify(document);
}

async function run(
  [command = '', ...args]: readonly string[],
  cwd: string,
  env: Client['env'],
): Promise<string> {
  const options = { cwd, env: { ...process.env, ...env }, maxBuffer: 64 * 1024 * 1024 };
  return promisify(execFile)(command, args, options).then(
    ({ stdout }) => stdout.trim(),
    (error: unknown) => {
      const { stdout, stderr } = error as { stdout?: string; stderr?: string };
      throw new Error(
        `${command} ${args.join(' ')}\n${(stdout ?? '').slice(-3_000)}\n${(stderr ?? '').slice(-3_000)}`,
        {
          cause: error,
        },
      );
    },
  );
}

// Two at a time: each takes a core.
describe.concurrent('a client of', () => {
  it.for(Object.entries(clients))(
    '%s compiles, and makes, refunds and reads a payment',
    async ([name, clientOf]) => {
      const { program, files = {}, commands, env } = clientOf();
      const folder = newDataDir();
      const place = (path: string) => {
        mkdirSync(dirname(join(folder, path)), { recursive: true });
        return join(folder, path);
      };
      writeFileSync(place('openapi.json'), openapi);
      symlinkSync(join(workspace, 'node_modules'), place('node_modules'));
      const [last = [], ...others] = commands.toReversed();
      const [generate = [], ...compile] = others.toReversed();
      const write = () => {
        for (const [path, text] of Object.entries(files)) writeFileSync(place(path), text);
        copyFileSync(join(workspace, 'infra', 'clients', 'programs', program[0]), place(program[1]));
      };
      write();
      await run(generate, folder, env);
      // A generator may empty its folder.
      write();
      for (const command of compile) await run(command, folder, env);
      const printed = await run(
        [...last, system.quickstart.gatewayUrl, key, name.replaceAll(/\W+/g, '-')],
        folder,
        env,
      );
      expect(printed).toBe('approved 3000000000 2500000000');
    },
  );
});
