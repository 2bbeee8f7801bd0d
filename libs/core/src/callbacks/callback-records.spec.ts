import { describe, expect, it } from 'vitest';
import {
  type EncodedRecord,
  decodeCallbackRecord,
  decodeDlqRecord,
  encodeCallbackRecord,
  encodeDeadLetter,
  encodeReplayMark,
  withoutDeadLetterReason,
} from './callback-records.ts';

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

describe('a dead-lettered callback', () => {
  const deadLetter = encodeDeadLetter(encoded, 'no such payment');

  it('has the reason and the time of receipt', () => {
    expect(decodeDlqRecord(deadLetter)).toEqual({
      kind: 'dead-lettered',
      environment: 'sandbox',
      token: 'pay_1',
      reason: 'no such payment',
      receivedAt: 5,
    });
  });

  // A record with a megabyte of headers, or a key as large, could not be dead-lettered, and later records were never read.
  it('is truncated if it is larger than any callback', () => {
    const huge = 'x'.repeat(1_000_000);
    const own = { environment: 'sandbox', 'received-at': '5' };
    const many = Object.fromEntries(Array.from({ length: 20_000 }, (_, index) => [`name-${index}`, 'é']));
    const headers = { huge, [huge]: '', ...many, ...own };
    const record = { key: huge, value: new Uint8Array(1_000_000), headers: { ...own, ...headers } };
    const { key, value, headers: kept } = encodeDeadLetter(record, 'too large');
    expect([key, value.byteLength]).toEqual(['x'.repeat(100), 65_536]);
    expect(kept).toMatchObject({ ...own, reason: 'too large' });
    expect(Buffer.byteLength(JSON.stringify(kept))).toBeLessThan(16_384);
  });

  it('is decoded to the original callback', () => {
    expect(withoutDeadLetterReason(deadLetter)).toEqual(encoded);
  });

  it('differs from the mark of a replay, which has the same key and partition', () => {
    const mark = encodeReplayMark(deadLetter, '3/17');
    expect(mark.key).toBe('pay_1');
    expect(decodeDlqRecord(mark)).toEqual({ kind: 'replayed', place: '3/17' });
  });

  it.each(['', 'soon', '-1', '1e9', '9'.repeat(40)])(
    'received at %j has an unknown time of receipt',
    (at) => {
      const record: EncodedRecord = { ...deadLetter, headers: { 'received-at': at } };
      expect(decodeDlqRecord(record)).toMatchObject({ receivedAt: undefined, reason: 'unknown' });
    },
  );
});
