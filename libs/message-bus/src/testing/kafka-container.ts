/**
 * A program: runs Kafka in a container until its standard input ends, and prints the broker's address as its one line;
 * `no container engine` where none answers.
 */
import { KafkaContainer } from '@testcontainers/kafka';
import { getContainerRuntimeClient } from 'testcontainers';

const image = 'confluentinc/cp-kafka:8.0.0';
const kafkaPort = 9093;

async function hasEngine(): Promise<boolean> {
  try {
    await getContainerRuntimeClient();
    return true;
  } catch {
    // Whatever the reason is: the one who asks has another broker to turn to.
    return false;
  }
}

if (await hasEngine()) {
  const container = await new KafkaContainer(image).withKraft().start();
  process.stdout.write(`${container.getHost()}:${container.getMappedPort(kafkaPort)}\n`);
  process.stdin.resume();
  await new Promise((resolve) => process.stdin.once('end', resolve));
  await container.stop();
} else {
  process.stdout.write('no container engine\n');
}
