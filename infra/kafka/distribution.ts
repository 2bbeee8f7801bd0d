/** Apache Kafka from Maven Central: the broker's artifact with its runtime dependencies, and its own tools. */
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fetchTool } from '../fetch-once.ts';
import { CannotContinue } from '../stop-with-sentence.ts';

export const cacheFolder = join(import.meta.dirname, '..', '..', '.cache', 'kafka');
// 4.4.0 is listed there, but its kafka-tools-api is missing, so it cannot be resolved.
export const kafkaVersion = '4.3.1';
const javaVersionMin = 17;
const plugin = 'org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy-dependencies';

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
      <groupId>org.apache.kafka</groupId>
      <artifactId>kafka-tools</artifactId>
      <version>${kafkaVersion}</version>
      <exclusions>
        <exclusion>
          <groupId>*</groupId>
          <artifactId>*</artifactId>
        </exclusion>
      </exclusions>
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
  /** The Java class path. */
  classPath: string;
}

/** Finds Java and the jars; downloads missing jars. @throws CannotContinue */
export async function findDistribution(
  say: (line: string) => void,
  signal?: AbortSignal,
): Promise<Distribution> {
  const java = findJava();
  const folder = await fetchTool({
    folder: join(cacheFolder, `${kafkaVersion}-with-tools`),
    name: `Kafka ${kafkaVersion}`,
    from: 'Maven Central, about 45 MB',
    run: (into) => {
      const pom = join(into, '..', 'pom.xml');
      writeFileSync(pom, project);
      return {
        command: 'mvn',
        args: ['-B', '-q', '-C', '-f', pom, plugin, '-DincludeScope=runtime', `-DoutputDirectory=${into}`],
        missing:
          'Kafka is fetched with Maven, which was not found: install it (on Debian, `apt-get install maven`), then start again.',
      };
    },
    say,
    signal,
  });
  return { java, classPath: join(folder, '*') };
}

function findJava(): string {
  const home = process.env['JAVA_HOME'];
  const java = home === undefined || home === '' ? 'java' : join(home, 'bin', 'java');
  const { stderr, error } = spawnSync(java, ['-version'], { encoding: 'utf8' });
  const advice = `install a Java runtime of version ${javaVersionMin} or later (on Debian, openjdk-17-jre-headless)`;
  if (error !== undefined)
    throw new CannotContinue(`Kafka needs Java, and ${java} was not found: ${advice}.`);
  const version = /version "(\d+)/.exec(stderr)?.[1];
  if (Number(version) >= javaVersionMin) return java;
  throw new CannotContinue(`Kafka needs a newer Java than ${version ?? 'this one'}: ${advice}.`);
}
