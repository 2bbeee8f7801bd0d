import { describe, expect, it } from 'vitest';
import { decodeGatewayRecord } from '../consumer/gateway-records.ts';
import { createAsyncApiDocument } from './document.ts';
import { headersSchema } from './headers.ts';
import { publicTopics } from '../topics/public-topics.ts';
import type { EncodedRecord } from '../topics/record-format.ts';

const document = createAsyncApiDocument();
const messages = publicTopics.flatMap(({ topic, messages: all }) => all.map((each) => ({ topic, ...each })));

/** All references of the document. */
function* refsIn(value: unknown): Generator<string> {
  if (typeof value !== 'object' || value === null) return;
  for (const [name, inner] of Object.entries(value)) {
    if (name === '$ref' && typeof inner === 'string') yield inner;
    else yield* refsIn(inner);
  }
}

const resolve = (ref: string) =>
  ref
    .replace(/^#\//, '')
    .split('/')
    .reduce<unknown>((at, name) => (at as Record<string, unknown> | undefined)?.[name], document);

const valueOf = ({ value }: EncodedRecord): unknown => JSON.parse(new TextDecoder().decode(value));

describe('the AsyncAPI document', () => {
  it('has a channel for each public topic, with a message for each of its events', () => {
    expect(Object.values(document.channels).map(({ address }) => address)).toEqual([
      ...['gateway.payments.v1', 'gateway.payouts.v1', 'gateway.disputes.v1', 'gateway.journal.v1'],
    ]);
    for (const { topic, messages: all } of publicTopics)
      expect(Object.keys(document.channels[topic]?.['messages'] as object)).toEqual(
        all.map(({ type }) => type),
      );
    expect(Object.keys(document.components.messages)).toEqual(messages.map(({ type }) => type));
    expect(new Set(messages.map(({ type }) => type)).size).toBe(messages.length);
  });

  it('has no broken reference', () => {
    const refs = [...refsIn(document)];
    expect(refs.length).toBeGreaterThan(messages.length);
    expect(refs.filter((ref) => resolve(ref) === undefined)).toEqual([]);
  });

  it('forbids no field that may be added later', () => {
    expect(JSON.stringify(document)).not.toContain('"additionalProperties":false');
  });

  it('describes every field of the subject of a record', () => {
    for (const { subject, subjectSchema } of publicTopics) {
      const fields = Object.keys(subjectSchema.shape);
      const name = `${subject.charAt(0).toUpperCase()}${subject.slice(1)}`;
      const described = document.components.schemas[name] as { properties: Record<string, object> };
      for (const field of fields)
        expect(described.properties[field], `${subject}.${field}`).toHaveProperty('description');
    }
  });
});

const examples = messages.flatMap(({ example, ...message }) =>
  example === undefined ? [] : [{ ...message, example }],
);

it('each topic has an example', () => {
  expect(new Set(examples.map(({ topic }) => topic)).size).toBe(publicTopics.length);
});

describe.each(examples)('the example of $type', ({ type, event, schema, example }) => {
  it('matches its schema, and has nothing beyond it', () => {
    expect(schema.parse(valueOf(example))).toEqual(valueOf(example));
    expect(headersSchema.parse(example.headers)).toEqual(example.headers);
    expect(example.headers['ce_type']).toBe(type);
  });

  it('is decoded for consumers as it is written', () => {
    const { kind, ...rest } = decodeGatewayRecord(example);
    expect(rest).toEqual(valueOf(example));
    expect(type).toMatch(new RegExp(`^tollgate\\.${kind}\\.`));
    if (kind !== 'journal') expect(rest).toMatchObject({ event: { type: event } });
  });
});

it('a schema accepts records of its own event only', () => {
  for (const { schema, event } of messages)
    for (const other of examples.filter((each) => each.event !== event))
      expect(schema.safeParse(valueOf(other.example)).success, `${other.type} as ${event}`).toBe(false);
});
