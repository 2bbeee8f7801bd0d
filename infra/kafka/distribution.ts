/** Apache Kafka as Maven Central has it: the broker's artifact with everything that it needs to run. */
import { spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { cacheFolder } from './command-line.ts';
import { CannotGoOn, requireGoingOn } from '../stop-with-sentence.ts';

// 4.4.0 is listed there, too, but its kafka-tools-api is not, so that it cannot be resolved.
export const kafkaVersion = '4.3.1';
const javaVersionMin = 17;
const plugin = 'org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy-dependencies';
const progressIntervalMs = 10_000;

const project = `<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>tollgate</groupId>
  <artifactId>local-kafka</artifactId>
  <version>1</version>
  <packaging>pom</packaging>
  <dependencies>
    <dependency>
      <groupId>org.apache.kafka</groupId>
      <artifactId>kafka_2.13</artifactId>
      <version>${kafkaVersion}</version>
    </dependency>
    <dependency>
      <groupId>org.slf4j</groupId>
      <artifactId>slf4j-simple</artifactId>
      <version>1.7.36</version>
    </dependency>
  </dependencies>
</project>
`;

export interface Distribution {
  java: string;
  /** What Java calls a class path. */
  classPath: string;
}

/** Finds Java and the jars; fetches the jars where they are not there yet. @throws CannotGoOn */
export async function findDistribution(
  say: (line: string) => void,
  signal?: AbortSignal,
): Promise<Distribution> {
  const java = findJava();
  const folder = join(cacheFolder, kafkaVersion);
  if (!existsSync(folder)) await fetchJars(folder, say, signal);
  return { java, classPath: join(folder, '*') };
}

function findJava(): string {
  const home = process.env['JAVA_HOME'];
  const java = home === undefined || home === '' ? 'java' : join(home, 'bin', 'java');
  const { stderr, error } = spawnSync(java, ['-version'], { encoding: 'utf8' });
  const advice = `install a Java runtime of version ${javaVersionMin} or later (on Debian, openjdk-17-jre-headless)`;
  if (error !== undefined) throw new CannotGoOn(`Kafka needs Java, and ${java} was not found: ${advice}.`);
  const version = /version "(\d+)/.exec(stderr)?.[1];
  if (Number(version) >= javaVersionMin) return java;
  throw new CannotGoOn(`Kafka needs a newer Java than ${version ?? 'this one'}: ${advice}.`);
}

/** Into a folder beside, which then gets its name: an interrupted fetch leaves nothing that seems complete. */
async function fetchJars(folder: string, say: (line: string) => void, signal?: AbortSignal): Promise<void> {
  mkdirSync(cacheFolder, { recursive: true });
  const incomplete = mkdtempSync(join(cacheFolder, 'fetching-'));
  try {
    const jars = join(incomplete, 'jars');
    const pom = join(incomplete, 'pom.xml');
    writeFileSync(pom, project);
    say(`Fetching Kafka ${kafkaVersion} from Maven Central (first time only, about 45 MB) …`);
    await runMaven(
      ['-B', '-q', '-C', '-f', pom, plugin, '-DincludeScope=runtime', `-DoutputDirectory=${jars}`],
      say,
      signal,
    );
    if (!existsSync(folder)) renameSync(jars, folder);
  } finally {
    rmSync(incomplete, { recursive: true, force: true });
  }
}

async function runMaven(
  args: readonly string[],
  say: (line: string) => void,
  signal?: AbortSignal,
): Promise<void> {
  const startedAt = performance.now();
  const progress = setInterval(
    () => say(`… still fetching, ${Math.round((performance.now() - startedAt) / 1_000)} s`),
    progressIntervalMs,
  );
  try {
    const { code, output } = await run('mvn', args, signal);
    requireGoingOn(signal);
    if (code === 0) return;
    const reason = /\[ERROR\] (.+)/.exec(output)?.[1] ?? 'Maven gave no reason';
    throw new CannotGoOn(`Maven could not fetch Kafka ${kafkaVersion}: ${reason}`);
  } finally {
    clearInterval(progress);
  }
}

function run(
  command: string,
  args: readonly string[],
  signal?: AbortSignal,
): Promise<{ code: number | null; output: string }> {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'pipe'] });
    signal?.addEventListener('abort', () => child.kill());
    let output = '';
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding('utf8').on('data', (text: string) => (output += text));
    const advice = 'install it (on Debian, `apt-get install maven`), then start again';
    child.once('error', () =>
      reject(new CannotGoOn(`Kafka is fetched with Maven, which was not found: ${advice}.`)),
    );
    child.once('close', (code) => resolve({ code, output }));
  });
}
