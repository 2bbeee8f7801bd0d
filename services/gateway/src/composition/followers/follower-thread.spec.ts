import { EventEmitter } from 'node:events';
import type { Worker } from 'node:worker_threads';
import { createFakeClock } from '@tollgate/testing';
import { describe, expect, it } from 'vitest';
import { type FromThread, type ToThread, converse } from './follower-thread.ts';

function givenThread() {
  const asked: ToThread[] = [];
  const worker = Object.assign(new EventEmitter(), {
    postMessage: (message: ToThread) => void asked.push(message),
  });
  const clock = createFakeClock();
  const say = (message: FromThread) => worker.emit('message', message);
  return { asked, worker, clock, say, thread: converse(worker as unknown as Worker, { clock }) };
}

async function givenStarted() {
  const given = givenThread();
  given.say({ kind: 'started', gauges: ['tollgate_publisher_lag_seconds'] });
  expect(await given.thread.started).toEqual(['tollgate_publisher_lag_seconds']);
  return given;
}

describe("the followers' thread", () => {
  it('receives each question with its number, and answers it', async () => {
    const { thread, asked, say } = await givenStarted();
    const answers = [thread.ask('notReady'), thread.ask('degraded')];
    expect(asked).toMatchObject([{ about: 'notReady' }, { about: 'degraded' }]);
    for (const each of asked.toReversed())
      if (each.kind === 'question') say({ kind: 'answer', id: each.id, answer: [each.about] });
    expect(await Promise.all(answers)).toEqual([['notReady'], ['degraded']]);
  });

  it('that does not answer for five seconds counts as silent', async () => {
    const { thread, clock } = await givenStarted();
    const answer = expect(thread.ask('notReady')).rejects.toMatchObject({
      code: 'followers_silent',
    });
    await clock.advance(5_000);
    await answer;
  });

  it('reports why it cannot start', async () => {
    const { thread, say } = givenThread();
    say({
      kind: 'start-refused',
      code: 'index_foreign',
      message: 'Another program has it.',
      retryable: false,
    });
    await expect(thread.started).rejects.toMatchObject({
      code: 'index_foreign',
      message: 'Another program has it.',
    });
  });

  // Views and topics would stop while the process looks healthy.
  it('that ends unexpectedly ends the process, by an uncaught error', async () => {
    const { worker } = await givenStarted();
    expect(() => worker.emit('exit', 1)).toThrow('The thread of the projector and publisher has ended.');
    expect(() => worker.emit('error', new Error('out of memory'))).toThrow('out of memory');
  });

  it('has ended once its stop resolves', async () => {
    const { thread, worker, asked } = await givenStarted();
    const stopping = thread.stop();
    expect(asked).toEqual([{ kind: 'stop' }]);
    worker.emit('exit', 0);
    await stopping;
  });
});
