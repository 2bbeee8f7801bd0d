/**
 * Images for an engine without a registry: built from Debian, npm and Maven artifacts, with the shipped image on top.
 */
import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { findDistribution } from '../kafka/distribution.ts';
import { fetchOnce, runTool } from '../fetch-once.ts';
import { CannotContinue } from '../stop-with-sentence.ts';
import { type Engine, requirePrograms } from './engine.ts';

const here = import.meta.dirname;
const workspace = join(here, '..', '..');
const debianMirror = 'http://deb.debian.org/debian';
const debianRelease = 'bookworm';
const linesShown = 20;
const authorities = '/etc/ssl/certs/ca-certificates.crt';

/** Tag of the services' test image, distinct from tags in use. */
export const testVersion = 'test';

/** The variables of docker-compose.yml that name images. */
export interface Images {
  NODE_IMAGE: string;
  EVENTSTORE_IMAGE: string;
  KAFKA_IMAGE: string;
}

export interface MakeOptions {
  engine: Engine;
  /** Cache folder for slow downloads. */
  cacheDir: string;
  say: (line: string) => void;
  signal: AbortSignal;
}

/** Builds all images except those named in the environment. @throws CannotContinue */
export async function makeImages(options: MakeOptions): Promise<Images> {
  const named = (name: keyof Images) => process.env[name] || undefined;
  const folder = mkdtempSync(join(tmpdir(), 'tollgate-images-'));
  try {
    const images: Partial<Images> = {
      NODE_IMAGE: named('NODE_IMAGE') ?? (await makeNode(options, join(folder, 'node'))),
    };
    await makeShipped(options, images);
    return {
      NODE_IMAGE: images.NODE_IMAGE ?? '',
      EVENTSTORE_IMAGE:
        named('EVENTSTORE_IMAGE') ?? (await makeEventStore(options, join(folder, 'eventstoredb'))),
      KAFKA_IMAGE: named('KAFKA_IMAGE') ?? (await makeKafka(options, join(folder, 'kafka'))),
    };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Debian's root, fetched once. */
async function makeDebian(options: MakeOptions): Promise<void> {
  const { cacheDir, say, signal } = options;
  requirePrograms({ debootstrap: 'debootstrap' }, say);
  const folder = join(cacheDir, `debian-${debianRelease}`);
  const archive = 'root.tar';
  const fetch = async (into: string) => {
    const root = join(into, 'root');
    const parts = ['--variant=minbase', '--include=ca-certificates,curl,procps'];
    await run('debootstrap', [...parts, debianRelease, root, debianMirror], { signal });
    rmSync(join(root, 'var/cache/apt/archives'), { recursive: true, force: true });
    await run('tar', ['-C', root, '-cf', join(into, archive), '.'], { signal });
    rmSync(root, { recursive: true, force: true });
  };
  const what = `a root of Debian ${debianRelease} (first time only, one to three minutes)`;
  await fetchOnce({ folder, what, fetch, say });
  await docker(options, ['import', join(folder, archive), 'tollgate-test/debian']);
}

async function makeNode(options: MakeOptions, context: string): Promise<string> {
  await makeDebian(options);
  cpSync(join(here, 'node'), context, { recursive: true });
  cpSync(process.execPath, join(context, 'node'), { dereference: true });
  cpSync(npmFolder(), join(context, 'npm'), { recursive: true, dereference: true });
  cpSync(authorities, join(context, 'authorities.pem'), { dereference: true });
  return build(options, 'tollgate-test/node', context);
}

/** The npm that runs this script, which provides its own path. */
function npmFolder(): string {
  const program = process.env['npm_execpath'] ?? '';
  const folder = dirname(dirname(program));
  if (!existsSync(join(folder, 'package.json')))
    throw new CannotContinue(
      'The images need the folder of npm itself: run this by npm run test:containers.',
    );
  return folder;
}

/** Built from the shipped files, like a new user's build. */
async function makeShipped({ engine, say, signal }: MakeOptions, images: Partial<Images>): Promise<void> {
  say('Building the image of the services …');
  const [command = '', ...argv] = engine.compose;
  const env = { ...engine.env, ...images, TOLLGATE_VERSION: testVersion };
  await run(command, [...argv, 'build', 'api'], { env, signal });
}

async function makeEventStore(options: MakeOptions, context: string): Promise<string> {
  cpSync(join(here, 'eventstoredb'), context, { recursive: true });
  cpSync(join(workspace, 'libs', 'event-store', 'src', 'testing'), join(context, 'testing'), {
    recursive: true,
  });
  return build(options, 'tollgate-test/eventstoredb-stand-in', context);
}

async function makeKafka(options: MakeOptions, context: string): Promise<string> {
  await makeDebian(options);
  const { java, classPath } = await findDistribution(options.say, options.signal);
  cpSync(join(here, 'kafka'), context, { recursive: true });
  cpSync(dirname(classPath), join(context, 'jars'), { recursive: true });
  copyJava(homeOf(java), join(context, 'jre'));
  return build(options, 'tollgate-test/kafka', context);
}

function homeOf(java: string): string {
  const { stderr } = spawnSync(java, ['-XshowSettings:properties', '-version'], { encoding: 'utf8' });
  const home = /java\.home = (.+)/.exec(stderr)?.[1];
  if (home === undefined) throw new CannotContinue(`${java} has not said where it is installed.`);
  return home;
}

/** Debian's Java uses links for its settings, and has dangling links to sources. */
function copyJava(home: string, target: string): void {
  const unused = ['jmods', 'docs', 'man', 'include', 'src.zip', 'ct.sym'];
  cpSync(home, target, {
    recursive: true,
    dereference: true,
    filter: (source) => !unused.includes(basename(source)) && existsSync(source),
  });
}

async function build(options: MakeOptions, image: string, context: string): Promise<string> {
  options.say(`Building ${image} …`);
  await docker(options, ['build', '--tag', image, context]);
  return image;
}

const docker = ({ engine, signal }: MakeOptions, argv: readonly string[]) =>
  run('docker', argv, { env: { ...engine.env, DOCKER_BUILDKIT: '0' }, signal });

interface RunOptions {
  env?: Readonly<Record<string, string>>;
  signal: AbortSignal;
}

/** Prints the program's output if it fails. @throws CannotContinue */
async function run(
  command: string,
  args: readonly string[],
  { env = {}, signal }: RunOptions,
): Promise<void> {
  const missing = `${command} was not found: install it, then start again.`;
  const { code, output } = await runTool({ command, args, env, missing, signal });
  if (code === 0) return;
  const lines = output.trimEnd().split('\n').slice(-linesShown).join('\n');
  throw new CannotContinue(`${command} ${args.slice(0, 2).join(' ')} failed (${code ?? 'ended'}):\n${lines}`);
}
