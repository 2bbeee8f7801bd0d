import { beginning } from '@tollgate/event-store';
import { describeTimeBound } from '@tollgate/testing/time-bound';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { toCsvLine } from './csv.ts';
import { sendOne } from './reading.ts';

const header = 16 * 1024;
const body = 64 * 1024;

const reply = { header: () => reply, code: () => reply, type: () => reply, send: () => reply };
const tagged = (text: string) =>
  sendOne(
    {
      request: { headers: { 'if-none-match': text } } as unknown as FastifyRequest,
      reply: reply as unknown as FastifyReply,
    },
    { position: beginning },
    {},
  );

describeTimeBound([
  ['cell of a CSV file', body, (text) => toCsvLine([text])],
  ['If-None-Match', header, tagged],
]);
