import { describe, expect, it } from 'vitest';
import { decodeCallbackRecord, encodeCallbackRecord } from './callback-records.ts';

const body = new TextEncoder().encode('{"status":"approved"}');
const encoded = encodeCallbackRecord({ environment: 'sandbox', token: 'pay_1', body, receivedAt: 5 });

describe('a callback record', () => {
  it('is decoded with its token and environment', () => {
    expect(encoded.value).toEqual(body);
    expect(decodeCallbackRecord(encoded)).toEqual({
      kind: 'callback',
      environment: 'sandbox',
      token: 'pay_1',
      body: { status: 'approved' },
    });
  });

  it('is decoded with its request id, if it has one', () => {
    const given = { environment: 'sandbox', token: 'pay_1', body, receivedAt: 5, requestId: 'req_1' };
    expect(decodeCallbackRecord(encodeCallbackRecord(given))).toMatchObject({ requestId: 'req_1' });
    expect(decodeCallbackRecord(encoded)).not.toHaveProperty('requestId');
  });

  it('requires a token of a possible length', () => {
    const withKey = (key: string) => decodeCallbackRecord({ ...encoded, key }).kind;
    expect([withKey('x'.repeat(100)), withKey('x'.repeat(101)), withKey('')]).toEqual([
      ...['callback', 'unreadable', 'unreadable'],
    ]);
  });

  it('shows whether its body was redacted', () => {
    const redacted = encodeCallbackRecord({
      environment: 'sandbox',
      token: 'pay_1',
      body,
      receivedAt: 5,
      isRedacted: true,
    });
    expect([encoded.headers['redacted'], redacted.headers['redacted']]).toEqual([undefined, 'true']);
  });
});
