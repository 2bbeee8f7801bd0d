import { createFakeClock } from '@tollgate/testing';
import Fastify from 'fastify';
import { expect, it } from 'vitest';
import { createOwnWrites, rememberOwnWrites } from './own-writes.ts';

it('remembers the last position of each key, and for five seconds', async () => {
  const clock = createFakeClock();
  const writes = createOwnWrites(clock);
  writes.note('Bearer a', '1');
  writes.note('Bearer a', '2');
  writes.note('Bearer b', '3');
  expect([writes.positionOf('Bearer a'), writes.positionOf('Bearer b')]).toEqual(['2', '3']);
  await clock.advance(4_999);
  expect(writes.positionOf('Bearer a')).toBe('2');
  await clock.advance(1);
  expect(writes.positionOf('Bearer a')).toBeUndefined();
});

// Two commands at a time: the answer to the first came after that to the second, and its write was not waited for.
it('remembers the later of two positions, in whatever order they are answered', async () => {
  const clock = createFakeClock();
  const writes = createOwnWrites(clock);
  writes.note('Bearer a', '0018');
  await clock.advance(3_000);
  writes.note('Bearer a', '0017');
  expect(writes.positionOf('Bearer a')).toBe('0018');
  await clock.advance(3_000);
  writes.note('Bearer a', '0019');
  expect(writes.positionOf('Bearer a')).toBe('0019');
});

it('remembers nothing of those without a key, and of answers without a position', () => {
  const writes = createOwnWrites(createFakeClock());
  writes.note(undefined, '1');
  writes.note('Bearer a', undefined);
  expect([writes.positionOf(undefined), writes.positionOf('Bearer a')]).toEqual([undefined, undefined]);
});

it('forgets the one that wrote longest ago where there are too many', () => {
  const writes = createOwnWrites(createFakeClock(), 2);
  for (const [index, key] of ['a', 'b', 'a', 'c'].entries()) writes.note(key, String(index));
  expect(['a', 'b', 'c'].map((key) => writes.positionOf(key))).toEqual(['2', undefined, '3']);
});

it('is passed to every route of the public server, whatever callers send themselves', async () => {
  const app = Fastify();
  rememberOwnWrites(app, createOwnWrites(createFakeClock()));
  const asked: unknown[] = [];
  app.post('/write', async (_request, reply) => reply.header('tollgate-position', '17').send({}));
  app.get('/read', async ({ headers }) => {
    asked.push(headers['tollgate-own-position']);
    return {};
  });
  const as = (authorization: string) => ({ authorization, 'tollgate-own-position': '99' });
  await app.inject({ method: 'POST', url: '/write', headers: as('Bearer a') });
  for (const key of ['Bearer a', 'Bearer b']) await app.inject({ url: '/read', headers: as(key) });
  expect(asked).toEqual(['17', undefined]);
});
