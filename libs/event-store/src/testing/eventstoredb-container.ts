/**
 * A program: runs KurrentDB, the current name of EventStoreDB, or the image of EVENTSTORE_IMAGE, in a container until its
 * standard input ends, and prints its connection string as its one line; `no container engine` if none answers.
 */
import { GenericContainer, Wait, getContainerRuntimeClient } from 'testcontainers';

const image = process.env['EVENTSTORE_IMAGE'] ?? 'kurrentplatform/kurrentdb:26.0.3';
const serverPort = 2113;

async function hasEngine(): Promise<boolean> {
  try {
    await getContainerRuntimeClient();
    return true;
  } catch {
    // The reason does not matter: the caller has another server to use.
    return false;
  }
}

if (await hasEngine()) {
  const container = await new GenericContainer(image)
    .withEnvironment({
      EVENTSTORE_INSECURE: 'true',
      EVENTSTORE_MEM_DB: 'true',
      KURRENTDB_INSECURE: 'true',
      KURRENTDB_MEM_DB: 'true',
    })
    .withExposedPorts(serverPort)
    .withWaitStrategy(Wait.forHttp('/health/live', serverPort).forStatusCode(204))
    .withStartupTimeout(180_000)
    .start();
  process.stdout.write(`esdb://${container.getHost()}:${container.getMappedPort(serverPort)}?tls=false\n`);
  process.stdin.resume();
  await new Promise((resolve) => process.stdin.once('end', resolve));
  await container.stop();
} else {
  process.stdout.write('no container engine\n');
}
