import { expect, it } from 'vitest';
import { withoutSystemMetadata, withSystemMetadata } from './recorded-event.ts';

const metadata = {
  schemaVersion: 1,
  correlationId: 'req_0o8d5qdz80001129b6fd5f5fb2720',
  causationId: '22668573-c820-485a-8319-409e2e82acae',
  actor: { kind: 'team', team: 'shop' },
};

it("is added next to the event's correlation and cause, and omitted by reads", () => {
  const written: unknown = JSON.parse(withSystemMetadata(JSON.stringify(metadata)));
  expect(written).toEqual({
    $correlationId: metadata.correlationId,
    $causationId: metadata.causationId,
    ...metadata,
  });
  expect(withoutSystemMetadata(written)).toEqual(metadata);
});

it.each(['{}', '{"schemaVersion":1}', 'null', '"correlationId"', '[{"correlationId":"a"}]'])(
  'is not there without such ids: %s',
  (text) => {
    expect(withSystemMetadata(text)).toBe(text);
    expect(withoutSystemMetadata(JSON.parse(text))).toEqual(JSON.parse(text));
  },
);

// Release 0.1.0 checks the signature over all metadata that it reads: its teams would have been locked out next to this one.
it.each([{ signature: { kid: 'k1' } }, { link: { hash: 'a' } }])('is absent for %j', (sealed) => {
  const text = JSON.stringify({ ...metadata, ...sealed });
  expect(withSystemMetadata(text)).toBe(text);
});

it('accepts no id longer than ours, so that the size of an append is known beforehand', () => {
  const long = JSON.stringify({ correlationId: 'x'.repeat(37), causationId: 'y' });
  expect(withSystemMetadata(long)).toBe(`{"$causationId":"y",${long.slice(1)}`);
  const largest = JSON.stringify({ correlationId: 'x'.repeat(36), causationId: 'y'.repeat(36) });
  expect(withSystemMetadata(largest).length - largest.length).toBeLessThanOrEqual(128);
});
