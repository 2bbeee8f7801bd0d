/**
 * A program: runs KurrentDB, as EventStoreDB is called today, in a container until its standard input ends, and prints its
 * connection string as its one line; `no container engine` where none answers.
 */
import { GenericContainer, Wait, getContainerRuntimeClient } from 'testcontainers';

const image = 'kurrentplatform/kurrentdb:25.1.0';
const serverPort = 2113;

async function hasEngine(): Promise<boolean> {
  try {
    await getContainerRuntimeClient();
    return true;
  } catch {
    // Whatever the reason is: the one who asks has another server to turn to.
    return false;
  }
}

if (await hasEngine()) {
  const container = await new GenericContainer(image)
    .withEnvironment({
      KURRENTDB_INSECURE: 'true',
      KURRENTDB_MEM_DB: 'true',
      // An append of the port has up to 16 MiB, the default is 1.
      KURRENTDB_MAX_APPEND_SIZE: '20971520',
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
