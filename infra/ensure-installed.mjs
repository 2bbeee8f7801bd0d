// Runs before `npm start`, `npm test` and `npm run demo`, on any installed Node: therefore plain JavaScript for Node
// 18.
import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

const workspace = fileURLToPath(new URL('..', import.meta.url));
const binaries = join(workspace, 'node_modules', '.bin');
const lockFile = join(workspace, '.cache', 'installing');
const lockStaleMs = 15 * 60_000;
const lockPollMs = 500;
const usualDuration = '40 s';

/** An error message for the user; any other exception is a defect. */
class CannotStart extends Error {}

const readJson = (...path) => JSON.parse(readFileSync(join(workspace, ...path), 'utf8'));
const majorOf = (version) => Number(/\d+/.exec(version)?.[0]);

function run(command, args, path) {
  return spawnSync(command, args, {
    cwd: workspace,
    env: { ...process.env, PATH: path },
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'pipe'],
    maxBuffer: 64 * 1024 * 1024,
    shell: process.platform === 'win32',
  });
}

/**
 * Compares the installed packages with the lockfile by content: file times are meaningless after a clone or checkout.
 */
function isInstalled() {
  let installed;
  try {
    installed = readJson('node_modules', '.package-lock.json').packages;
  } catch (error) {
    if (error.code === 'ENOENT' || error instanceof SyntaxError) return false;
    throw error;
  }
  const { '': _root, ...locked } = readJson('package-lock.json').packages;
  const isSame = (path) =>
    path in installed && path in locked && installed[path].version === locked[path].version;
  // Locked packages for other platforms are intentionally not installed.
  const isExpected = (path) => !locked[path].optional;
  return Object.keys(installed).every(isSame) && Object.keys(locked).filter(isExpected).every(isSame);
}

/** Installing removes node_modules, so it must not run on the Node in there, which npm puts first on PATH. */
function pathOfMachine() {
  const isOurs = (folder) => /node_modules[\\/]\.bin[\\/]?$/.test(folder);
  return (process.env.PATH ?? '')
    .split(delimiter)
    .filter((folder) => !isOurs(folder))
    .join(delimiter);
}

function demandMachine(path) {
  const { engines } = readJson('package.json');
  for (const [tool, range] of Object.entries(engines)) {
    const { stdout, error } = run(tool, ['--version'], path);
    const advice = `${tool} ${majorOf(range)} or later, then start again`;
    if (error !== undefined) throw new CannotStart(`Install ${advice}: it was not found.`);
    if (majorOf(stdout) < majorOf(range))
      throw new CannotStart(`Update to ${advice}: this is ${stdout.trim()}.`);
  }
}

const networkFailure =
  /\b(E(NOTFOUND|AI_AGAIN|CONNREFUSED|CONNRESET|TIMEDOUT|NETUNREACH|HOSTUNREACH)|ERR_SOCKET_TIMEOUT)\b/;

/** Asked once with a short timeout: without a network `npm ci` takes minutes to fail. */
function canReachRegistry(path) {
  const { status, stderr } = run(
    'npm',
    ['ping', '--fetch-retries=1', '--fetch-retry-mintimeout=1000', '--fetch-timeout=10000'],
    path,
  );
  return status === 0 || !networkFailure.test(stderr);
}

function install() {
  const path = pathOfMachine();
  demandMachine(path);
  // Standard output belongs to the command: scripts read keys and JSON from it.
  console.error(`Installing dependencies (first start only, about ${usualDuration}) …`);
  const source = canReachRegistry(path) ? '--prefer-offline' : '--offline';
  const { status, error, stderr } = run('npm', ['ci', '--include=dev', '--no-progress', source], path);
  if (error !== undefined) throw error;
  if (status === 0) return;
  if (source === '--offline' || networkFailure.test(stderr)) {
    throw new CannotStart(
      'The dependencies could not be installed because the npm registry cannot be reached: connect this machine to it ' +
        '(or run `npm ci` where it can be reached and bring node_modules along), then start again.',
    );
  }
  const reason = /^npm (?:error|ERR!) (?!code )(.+)$/m.exec(stderr)?.[1] ?? 'npm gave no reason';
  throw new CannotStart(`The dependencies could not be installed (${reason}): \`npm ci\` shows why.`);
}

function tryLock() {
  if (isStale()) rmSync(lockFile, { force: true });
  try {
    writeFileSync(lockFile, String(process.pid), { flag: 'wx' });
    return true;
  } catch (error) {
    if (error.code === 'EEXIST') return false;
    throw error;
  }
}

/** True if the process holding the lock has ended, or the lock is too old to be valid. */
function isStale() {
  try {
    if (Date.now() - statSync(lockFile).mtimeMs > lockStaleMs) return true;
    const holder = Number(readFileSync(lockFile, 'utf8'));
    if (holder > 0) process.kill(holder, 0); // Signal 0 only asks whether it lives.
    return false;
  } catch (error) {
    return error.code === 'ESRCH';
  }
}

/**
 * Lets one start install while the others wait. Two starts that find the same stale lock at the same moment can both
 * proceed; `npm ci` may then fail for one of them, and restarting it helps.
 */
async function whileLocked(work) {
  mkdirSync(join(workspace, '.cache'), { recursive: true });
  for (let attempt = 1; !tryLock(); attempt += 1) {
    if (attempt === 1) console.error('Waiting for another start that is installing the dependencies …');
    await delay(lockPollMs);
  }
  try {
    work();
  } finally {
    rmSync(lockFile, { force: true });
  }
}

/** The `node` of an npm script: the package of that name, unless its install script was not allowed to run. */
function demandPinnedNode() {
  const wanted = readJson('package.json').dependencies.node;
  const { stdout } = run('node', ['--version'], `${binaries}${delimiter}${process.env.PATH ?? ''}`);
  if (majorOf(stdout) >= majorOf(wanted)) return;
  throw new CannotStart(
    `Node ${majorOf(wanted)} is not in node_modules, because npm ran without install scripts (ignore-scripts): ` +
      'run `npm rebuild node --ignore-scripts=false`, then start again.',
  );
}

try {
  if (!isInstalled()) await whileLocked(() => isInstalled() || install());
  demandPinnedNode();
} catch (error) {
  if (!(error instanceof CannotStart)) throw error;
  console.error(error.message);
  process.exitCode = 1;
}
