import { answerInJsonOnly, httpServerOptions, listen, silentLog } from '@tollgate/service-kit';
import { eventually } from '@tollgate/testing';
import Fastify from 'fastify';
import { request } from 'undici';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createInquiryHints, registerInquiryHints } from './inquiry-hints.ts';

async function startCommandService(): Promise<{
  origin: string;
  heard: string[];
  stop: () => Promise<void>;
}> {
  const heard: string[] = [];
  const app = Fastify(httpServerOptions({ bodyLimitBytes: 64 * 1024 }));
  answerInJsonOnly(app, silentLog);
  registerInquiryHints(app, (token) => heard.push(token));
  const port = await listen(app, { host: '127.0.0.1', port: 0, variable: 'GATEWAY_PORT' });
  const stop = () => app.close();
  onTestFinished(stop);
  return { origin: `http://127.0.0.1:${port}`, heard, stop };
}

function hintsFor(upstreams: readonly string[]) {
  const hints = createInquiryHints({ upstreams, credential: { sign: () => 'ours' }, log: silentLog });
  onTestFinished(() => hints.close());
  return hints;
}

describe('a hint', () => {
  it('of one payment goes to one instance, however often it is read, and those of many to all', async () => {
    const instances = [await startCommandService(), await startCommandService()];
    const hints = hintsFor(instances.map(({ origin }) => origin));
    for (const token of ['pay_a', 'pay_b', 'pay_a', 'pay_b']) hints.send(token);
    await eventually(() => expect(instances.flatMap(({ heard }) => heard)).toHaveLength(4));
    for (const { heard } of instances) expect(new Set(heard).size).toBe(1);
  });

  it('goes to another instance if one is gone, and is dropped if all are', async () => {
    const [first, second] = [await startCommandService(), await startCommandService()];
    const hints = hintsFor([first.origin, second.origin]);
    await first.stop();
    for (const token of ['pay_a', 'pay_b']) hints.send(token);
    await eventually(() => expect(second.heard.toSorted()).toEqual(['pay_a', 'pay_b']));
    await second.stop();
    expect(() => hints.send('pay_c')).not.toThrow();
  });

  it.each([
    ['{}', 400],
    ['{"token":""}', 400],
    ['{"token":1}', 400],
    ['{"token":"a/b"}', 400],
    ['{"token":"pay_a "}', 400],
    ['{"token":"a","more":1}', 400],
    [`{"token":"${'x'.repeat(129)}"}`, 400],
    [`{"token":"${'x'.repeat(2_000)}"}`, 413],
  ])('is not %s: it becomes part of the name of a stream', async (body, statusCode) => {
    const { origin, heard } = await startCommandService();
    const headers = { 'content-type': 'application/json' };
    const answer = await request(`${origin}/internal/inquiries`, { method: 'POST', headers, body });
    await answer.body.dump();
    expect([answer.statusCode, heard]).toEqual([statusCode, []]);
  });
});
