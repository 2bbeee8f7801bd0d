import { assertTimeBound } from '@tollgate/testing/time-bound';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { describe, it } from 'vitest';
import { toCsvLine } from './csv.ts';
import { sendTagged } from './entity-tag.ts';

const header = 16 * 1024;
const body = 64 * 1024;

const reply = { header: () => reply, code: () => reply, type: () => reply, send: () => reply };
const tagged = (text: string) =>
  sendTagged(
    { headers: { 'if-none-match': text } } as unknown as FastifyRequest,
    reply as unknown as FastifyReply,
    {},
  );

describe('takes at most 20 ms for any text', () => {
  it.each<[string, number, (text: string) => unknown]>([
    ['cell of a CSV file', body, (text) => toCsvLine([text])],
    ['If-None-Match', header, tagged],
  ])('%s (%d characters)', (_name, length, filter) => {
    assertTimeBound(filter, length);
  });
});
