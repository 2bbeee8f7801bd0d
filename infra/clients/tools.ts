/** Clients that others have written, pinned and fetched once: each by its own registry's program. */
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { fetchOnce, runTool } from '../fetch-once.ts';
import { CannotGoOn } from '../stop-with-sentence.ts';

const cacheFolder = join(import.meta.dirname, '..', '..', '.cache', 'clients');
const requirements = join(import.meta.dirname, 'requirements.txt');
/** Beside what we develop with: every start would install them, and nobody but this suite needs them. */
const packages = ['@redocly/cli@2.77.0', '@asyncapi/parser@3.6.3', 'openapi-typescript@7.13.0'];

export interface Tools {
  /** A folder of Python packages. */
  python: string;
  /** A folder with node_modules. */
  node: string;
  /** The program. */
  promtool: string;
}

interface Fetching {
  say: (line: string) => void;
  signal: AbortSignal;
}

/** @throws CannotGoOn where one is not there and cannot be fetched */
export async function findTools(fetching: Fetching): Promise<Tools> {
  const [python, node, promtool] = await Promise.all([
    pythonPackages(fetching),
    nodePackages(fetching),
    findPromtool(fetching),
  ]);
  return { python, node, promtool };
}

const digestOf = (text: string) => createHash('sha256').update(text).digest('hex').slice(0, 12);
const lastLine = (output: string) => output.trim().split('\n').at(-1) ?? 'it gave no reason';

async function pythonPackages({ say, signal }: Fetching): Promise<string> {
  const missing =
    'schemathesis and the client of KurrentDB need Python 3.10 or later with pip, which was not found: install it (on Debian, `apt-get install python3-pip`), then start again.';
  // Some are compiled for one version of Python.
  const { output: version } = await runTool({ command: 'python3', args: ['--version'], missing, signal });
  const folder = join(cacheFolder, `python-${digestOf(readFileSync(requirements, 'utf8') + version)}`);
  const install = async (into: string) => {
    const options = ['--quiet', '--disable-pip-version-check', '--no-deps', '--target', into];
    const args = ['-m', 'pip', 'install', ...options, '--requirement', requirements];
    const { code, output } = await runTool({ command: 'python3', args, missing, signal });
    if (code !== 0)
      throw new CannotGoOn(
        `pip could not fetch schemathesis and the client of KurrentDB: ${lastLine(output)}`,
      );
  };
  const what = 'schemathesis and the client of KurrentDB from PyPI (first time only, about 40 MB)';
  await fetchOnce({ folder, what, fetch: install, say });
  return folder;
}

async function nodePackages({ say, signal }: Fetching): Promise<string> {
  const folder = join(cacheFolder, `node-${digestOf(packages.join())}`);
  const install = async (into: string) => {
    const options = ['--prefix', into, '--no-save', '--no-audit', '--no-fund', '--ignore-scripts'];
    const { code, output } = await runTool({
      command: 'npm',
      args: ['install', ...options, ...packages],
      missing: 'npm was not found: it comes with Node.',
      signal,
    });
    if (code !== 0) throw new CannotGoOn(`npm could not fetch ${packages.join(', ')}: ${lastLine(output)}`);
  };
  const what = `${packages.join(', ')} from the npm registry (first time only, about 110 MB)`;
  await fetchOnce({ folder, what, fetch: install, say });
  return folder;
}

const promtoolMissing =
  'promtool was not found, and Debian, whose package has it, is not what this machine runs: put the promtool of Prometheus on the PATH, then start again.';

/** The one on the PATH, or that of Debian's package, which is not installed for it. */
async function findPromtool({ say, signal }: Fetching): Promise<string> {
  const onPath = (process.env['PATH'] ?? '').split(':').map((folder) => join(folder, 'promtool'));
  const found = onPath.find((file) => existsSync(file));
  if (found !== undefined) return found;
  const folder = join(cacheFolder, 'prometheus');
  const fetch = async (into: string) => {
    const run = (command: string, args: string[], cwd?: string) =>
      runTool({ command, args, missing: promtoolMissing, signal, cwd });
    const download = () => run('apt-get', ['download', 'prometheus'], into);
    let result = await download();
    // The lists of a fresh container are empty.
    if (result.code !== 0 && (await run('apt-get', ['update'])).code === 0) result = await download();
    const archive = readdirSync(into).find((name) => name.endsWith('.deb'));
    if (result.code !== 0 || archive === undefined)
      throw new CannotGoOn(
        `apt-get could not fetch prometheus, which has promtool: ${lastLine(result.output)}`,
      );
    const unpacked = await run('dpkg', ['-x', join(into, archive), into]);
    if (unpacked.code !== 0)
      throw new CannotGoOn(`${archive} could not be unpacked: ${lastLine(unpacked.output)}`);
  };
  await fetchOnce({
    folder,
    what: "promtool out of Debian's prometheus (first time only, 20 MB)",
    fetch,
    say,
  });
  return join(folder, 'usr', 'bin', 'promtool');
}
