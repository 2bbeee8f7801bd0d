/**
 * A program: runs `kafka`, or `eventstoredb` under its current name KurrentDB, in a container until its standard input ends, and
 * prints the address as its one line; `no container engine` if none answers. KAFKA_IMAGE and EVENTSTORE_IMAGE name other images.
 */
import { GenericContainer, Wait, getContainerRuntimeClient } from 'testcontainers';
import { freePort } from '../kafka/start-broker.ts';

const brokerPort = 9092;
const storePort = 2113;

async function hasEngine(): Promise<boolean> {
  try {
    await getContainerRuntimeClient();
    return true;
  } catch {
    // The reason does not matter: the caller has another server to use.
    return false;
  }
}

async function startKafka() {
  // A broker advertises its address: the port must be known before it starts.
  const port = await freePort();
  const container = await new GenericContainer(process.env['KAFKA_IMAGE'] ?? 'apache/kafka:4.1.1')
    .withEnvironment({
      KAFKA_NODE_ID: '1',
      KAFKA_PROCESS_ROLES: 'broker,controller',
      KAFKA_CONTROLLER_QUORUM_VOTERS: '1@localhost:9093',
      KAFKA_CONTROLLER_LISTENER_NAMES: 'CONTROLLER',
      KAFKA_LISTENERS: `PLAINTEXT://0.0.0.0:${brokerPort},CONTROLLER://localhost:9093`,
      KAFKA_ADVERTISED_LISTENERS: `PLAINTEXT://127.0.0.1:${port}`,
      KAFKA_LISTENER_SECURITY_PROTOCOL_MAP: 'CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT',
      KAFKA_OFFSETS_TOPIC_REPLICATION_FACTOR: '1',
      KAFKA_TRANSACTION_STATE_LOG_REPLICATION_FACTOR: '1',
      KAFKA_TRANSACTION_STATE_LOG_MIN_ISR: '1',
      KAFKA_GROUP_INITIAL_REBALANCE_DELAY_MS: '0',
    })
    .withExposedPorts({ container: brokerPort, host: port })
    .withWaitStrategy(Wait.forListeningPorts())
    .withStartupTimeout(120_000)
    .start();
  return { container, address: `127.0.0.1:${port}` };
}

async function startEventStoreDb() {
  const container = await new GenericContainer(
    process.env['EVENTSTORE_IMAGE'] ?? 'kurrentplatform/kurrentdb:26.0.3',
  )
    .withEnvironment({
      EVENTSTORE_INSECURE: 'true',
      EVENTSTORE_MEM_DB: 'true',
      KURRENTDB_INSECURE: 'true',
      KURRENTDB_MEM_DB: 'true',
    })
    .withExposedPorts(storePort)
    .withWaitStrategy(Wait.forHttp('/health/live', storePort).forStatusCode(204))
    .withStartupTimeout(180_000)
    .start();
  const address = `esdb://${container.getHost()}:${container.getMappedPort(storePort)}?tls=false`;
  return { container, address };
}

if (await hasEngine()) {
  const { container, address } = await (process.argv[2] === 'kafka' ? startKafka() : startEventStoreDb());
  process.stdout.write(`${address}\n`);
  process.stdin.resume();
  await new Promise((resolve) => process.stdin.once('end', resolve));
  await container.stop();
} else {
  process.stdout.write('no container engine\n');
}
