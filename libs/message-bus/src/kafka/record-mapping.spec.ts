import { expect, it } from 'vitest';
import {
  headersBytesMax,
  keyBytesMax,
  recordBytesMax,
  requireRecordSize,
  toBusRecord,
} from './record-mapping.ts';

const fetched = { offset: '7', timestamp: '1700000000000', key: Buffer.from('k'), value: Buffer.from('v') };

it('reads records that other programs wrote: without key or value, with repeated or absent headers', () => {
  const headers = {
    one: Buffer.from('1'),
    repeated: [Buffer.from('a'), Buffer.from('b')],
    absent: undefined,
  };
  const record = toBusRecord('t', 2, { ...fetched, key: null, value: null, headers });
  expect(record).toMatchObject({
    topic: 't',
    partition: 2,
    offset: '7',
    timestamp: 1_700_000_000_000,
    key: '',
  });
  expect([record.value.byteLength, record.headers]).toEqual([0, { one: '1', repeated: 'b' }]);
});

it('accepts a record of exactly the maximum size, with additional headers', () => {
  const record = (valueBytes: number, headerBytes: number) => ({
    key: 'key',
    value: new Uint8Array(valueBytes),
    headers: { name: 'x'.repeat(headerBytes) },
  });
  const [valueBytes, headerBytes] = [recordBytesMax - 3, headersBytesMax - 44];
  expect(() => requireRecordSize('t', record(valueBytes, headerBytes))).not.toThrow();
  expect(() => requireRecordSize('t', record(valueBytes + 1, 0))).toThrow(/"key".* 1000001 bytes;/);
  expect(() => requireRecordSize('t', record(0, headerBytes + 1))).toThrow(/"key".* 32769 bytes of headers;/);
});

// The partition of a key of a megabyte was computed for minutes, and the process answered no one.
it('rejects a key far longer than any token', () => {
  const record = (keyBytes: number) => ({
    key: 'k'.repeat(keyBytes),
    value: new Uint8Array(),
    headers: {},
  });
  expect(() => requireRecordSize('t', record(keyBytesMax))).not.toThrow();
  expect(() => requireRecordSize('t', record(keyBytesMax + 1))).toThrow(
    /"k{100}" for topic t has 4097 bytes of key;/,
  );
});
