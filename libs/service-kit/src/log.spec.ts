import { describe, expect, it } from 'vitest';
import { inCause } from './current-request.ts';
import { TollgateError } from './errors.ts';
import { type LogFields, createLog } from './log.ts';
import { Secret } from './secret.ts';

const planted = 'planted-secret-4392963203551251';

function linesOf(log: (fields: LogFields) => LogFields): string {
  let text = '';
  createLog('spec', 'debug', { write: (line) => (text += line) }).info(log({}), 'message');
  return text;
}

describe('a log line', () => {
  it('has the fields that are allowed', () => {
    expect(JSON.parse(linesOf(() => ({ token: 'pay_1', durationMs: 3 })))).toMatchObject({
      service: 'spec',
      token: 'pay_1',
      durationMs: 3,
      msg: 'message',
    });
  });

  it('has the request of the log line, or else the correlation id of its events', () => {
    const lineIn = (id: string) => inCause(id, () => JSON.parse(linesOf(() => ({}))) as object);
    const requestId = `req_0mwuo1pzr${'0'.repeat(20)}`;
    expect(lineIn(requestId)).toMatchObject({ requestId });
    expect(lineIn('9b2c7d4e')).toMatchObject({ correlationId: '9b2c7d4e' });
    expect(lineIn('9b2c7d4e')).not.toHaveProperty('requestId');
  });

  const withField = (fields: object): LogFields => fields;
  it.each([
    ['an unknown field', withField({ authorization: planted })],
    ['an object under an allowed name', withField({ token: { nested: planted } })],
    ['an array under an allowed name', withField({ outcome: [planted] })],
    ['a secret', withField({ outcome: new Secret(planted) })],
    ['the message of a foreign error', { error: new Error(`GET https://x/?key=${planted}`) }],
    ['the cause of an error', { error: new TollgateError('x', 'ours', { cause: new Error(planted) }) }],
    ['a property of an error', { error: Object.assign(new Error('x'), { body: planted, code: 7 }) }],
    ['a thrown text', { error: planted }],
  ])('never shows %s', (_name, fields) => {
    expect(linesOf(() => fields)).not.toContain('planted');
  });

  it('shows the message of our own errors, and the code of any', () => {
    const error = new TollgateError('store_unavailable', 'The disk is full.', {
      cause: Object.assign(new Error(planted), { code: 'ENOSPC' }),
    });
    expect(JSON.parse(linesOf(() => ({ error }))).error).toMatchObject({
      code: 'store_unavailable',
      message: 'The disk is full.',
      cause: { code: 'ENOSPC' },
    });
  });
});
