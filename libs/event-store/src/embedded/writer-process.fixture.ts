import { randomUUID } from 'node:crypto';
import { createEmbeddedEventStore } from './embedded-event-store.ts';

/**
 * A process that writes to a store: `node writer-process.fixture.ts <file> <name> <streams> <appends per stream>`.
 * It appends to all its streams at once, and prints `stream revision id` for each event after it was acknowledged.
 */
const [file = '', name = '', streamCount, appendCount] = process.argv.slice(2);
const store = await createEmbeddedEventStore({ file });

async function appendInTurn(stream: string): Promise<void> {
  for (let count = 0; count < Number(appendCount); count += 1) {
    const events = Array.from({ length: 1 + (count % 3) }, () => newEvent(count));
    const answer = await store.append(stream, events, 'any');
    if (answer.kind !== 'appended') throw new Error('an append without an expectation met a conflict');
    const first = answer.revision - events.length + 1;
    process.stdout.write(events.map(({ id }, index) => `${stream} ${first + index} ${id}\n`).join(''));
  }
}

const newEvent = (count: number) => ({ id: randomUUID(), type: 'Written', data: { count }, metadata: {} });

await Promise.all(
  Array.from({ length: Number(streamCount) }, (_, index) => appendInTurn(`${name}-${index}`)),
);
await store.close();
