/** Third-party clients, pinned and fetched once, each with its own registry's program. */
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { type ToolFetching, fetchOnce, fetchTool, reasonIn, runTool } from '../fetch-once.ts';
import { CannotContinue } from '../stop-with-sentence.ts';

const cacheFolder = join(import.meta.dirname, '..', '..', '.cache', 'clients');
const requirements = join(import.meta.dirname, 'requirements.txt');
/** Not among the development dependencies, because only this suite needs them. */
const packages = ['@redocly/cli@2.77.0', '@asyncapi/parser@3.6.3', 'openapi-typescript@7.13.0'];

export interface Tools {
  /** A folder of Python packages. */
  python: string;
  /** A folder with node_modules. */
  node: string;
  /** The program. */
  promtool: string;
  generators: Generators;
}

interface Generators {
  /** A jar. */
  openApiGenerator: string;
  /** A program. */
  oapiCodegen: string;
  /** A folder of Python packages. */
  pythonClient: string;
}

interface Fetching {
  say: (line: string) => void;
  signal: AbortSignal;
}

/** @throws CannotContinue if one is missing and cannot be fetched */
export async function findTools(fetching: Fetching): Promise<Tools> {
  const [python, node, promtool] = await Promise.all([
    pythonPackages(fetching),
    nodePackages(fetching),
    promtoolOfDebian(fetching),
  ]);
  return { python, node, promtool, generators: await findGenerators(fetching) };
}

const javaGenerator = 'org.openapitools:openapi-generator-cli:7.25.0';
const goGenerator = 'github.com/oapi-codegen/oapi-codegen/v2/cmd/oapi-codegen@v2.8.2';
const pythonGenerator = 'openapi-python-client==0.29.1';
const pythonPins = [pythonGenerator, 'httpx==0.28.1', 'pydantic==2.14.4', 'attrs==26.1.0'];

/** Client generators for the OpenAPI document, by the registry of their language. */
async function findGenerators({ say, signal }: Fetching): Promise<Generators> {
  const fetched = (name: string, from: string, run: ToolFetching['run']) =>
    fetchTool({ folder: join(cacheFolder, name.replaceAll(/[^\w.-]+/g, '-')), name, from, run, say, signal });
  const jar = await fetched(javaGenerator, 'Maven Central', (into) => ({
    command: 'mvn',
    args: [
      ...['-q', '-B', 'org.apache.maven.plugins:maven-dependency-plugin:3.6.0:copy'],
      ...[`-Dartifact=${javaGenerator}`, `-DoutputDirectory=${into}`, '-Dmdep.stripVersion=true'],
    ],
    missing:
      'Maven was not found: install it and Java 17 (on Debian, `apt-get install maven`), then start again.',
  }));
  const program = await fetched(goGenerator, 'the Go module proxy', (into) => ({
    command: 'go',
    args: ['install', goGenerator],
    env: { GOBIN: into },
    missing: 'Go 1.26 was not found: install it, then start again.',
  }));
  const pythonClient = await fetched(pythonGenerator, 'PyPI', (into) => ({
    command: 'python3',
    args: ['-m', 'pip', 'install', '-q', '--disable-pip-version-check', '--target', into, ...pythonPins],
    missing: 'Python 3.11 with pip was not found: install it, then start again.',
  }));
  return {
    openApiGenerator: join(jar, 'openapi-generator-cli.jar'),
    oapiCodegen: join(program, 'oapi-codegen'),
    pythonClient,
  };
}

const digestOf = (text: string) => createHash('sha256').update(text).digest('hex').slice(0, 12);

async function pythonPackages({ say, signal }: Fetching): Promise<string> {
  const missing =
    'schemathesis and the client of KurrentDB need Python 3.10 or later with pip, which was not found: install it (on Debian, `apt-get install python3-pip`), then start again.';
  // Some packages are compiled for one version of Python.
  const { output: version } = await runTool({ command: 'python3', args: ['--version'], missing, signal });
  return fetchTool({
    folder: join(cacheFolder, `python-${digestOf(readFileSync(requirements, 'utf8') + version)}`),
    name: 'schemathesis and the client of KurrentDB',
    from: 'PyPI, about 40 MB',
    run: (into) => ({
      command: 'python3',
      args: [
        ...['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', '--no-deps'],
        ...['--target', into, '--requirement', requirements],
      ],
      missing,
    }),
    say,
    signal,
  });
}

const nodePackages = ({ say, signal }: Fetching): Promise<string> =>
  fetchTool({
    folder: join(cacheFolder, `node-${digestOf(packages.join())}`),
    name: packages.join(', '),
    from: 'the npm registry, about 110 MB',
    run: (into) => ({
      command: 'npm',
      args: [
        ...['install', '--prefix', into, '--no-save', '--no-audit', '--no-fund', '--ignore-scripts'],
        ...packages,
      ],
      missing: 'npm was not found: it comes with Node.',
    }),
    say,
    signal,
  });

/** The program on the PATH, or the one from Debian's package, which is not installed automatically. */
async function promtoolOfDebian({ say, signal }: Fetching): Promise<string> {
  const onPath = (process.env['PATH'] ?? '').split(':').map((folder) => join(folder, 'promtool'));
  const found = onPath.find((file) => existsSync(file));
  if (found !== undefined) return found;
  const folder = join(cacheFolder, 'promtool');
  const what = "promtool out of Debian's prometheus (first time only, 20 MB)";
  await fetchOnce({ folder, what, fetch: (into) => unpackPrometheus(into, signal), say });
  return join(folder, 'usr', 'bin', 'promtool');
}

async function unpackPrometheus(into: string, signal: AbortSignal): Promise<void> {
  const missing =
    'promtool was not found, and Debian, whose package has it, is not what this machine runs: put promtool on the PATH, then start again.';
  const run = (command: string, args: string[], cwd?: string) =>
    runTool({ command, args, missing, signal, cwd });
  const download = () => run('apt-get', ['download', 'prometheus'], into);
  let result = await download();
  // A fresh container has no package lists.
  if (result.code !== 0 && (await run('apt-get', ['update'])).code === 0) result = await download();
  const archive = readdirSync(into).find((file) => file.endsWith('.deb'));
  if (result.code !== 0 || archive === undefined)
    throw new CannotContinue(`apt-get could not fetch prometheus: ${reasonIn(result.output)}`);
  const unpacked = await run('dpkg', ['-x', join(into, archive), into]);
  if (unpacked.code !== 0)
    throw new CannotContinue(`${archive} could not be unpacked: ${reasonIn(unpacked.output)}`);
}
