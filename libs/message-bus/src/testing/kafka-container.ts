/**
 * A program: runs Apache Kafka, or the image of KAFKA_IMAGE, in a container until its standard input ends, and prints the
 * broker's address as its one line; `no container engine` if none answers.
 */
import { createServer, type AddressInfo } from 'node:net';
import { GenericContainer, Wait, getContainerRuntimeClient } from 'testcontainers';

const image = process.env['KAFKA_IMAGE'] ?? 'apache/kafka:4.1.1';
const brokerPort = 9092;

async function hasEngine(): Promise<boolean> {
  try {
    await getContainerRuntimeClient();
    return true;
  } catch {
    // The reason does not matter: the caller has another broker to use.
    return false;
  }
}

/** A broker advertises its address: the port must be known before it starts. */
const freePort = () =>
  new Promise<number>((resolve, reject) => {
    const server = createServer();
    server.once('error', reject);
    server.listen({ host: '127.0.0.1', port: 0 }, () => {
      const { port } = server.address() as AddressInfo;
      server.close(() => resolve(port));
    });
  });

const environment = (port: number) => ({
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
});

if (await hasEngine()) {
  const port = await freePort();
  const container = await new GenericContainer(image)
    .withEnvironment(environment(port))
    .withExposedPorts({ container: brokerPort, host: port })
    .withWaitStrategy(Wait.forListeningPorts())
    .withStartupTimeout(120_000)
    .start();
  process.stdout.write(`127.0.0.1:${port}\n`);
  process.stdin.resume();
  await new Promise((resolve) => process.stdin.once('end', resolve));
  await container.stop();
} else {
  process.stdout.write('no container engine\n');
}
