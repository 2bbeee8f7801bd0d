/** The AsyncAPI document of the public topics, derived from the schemas that consumers decode records with. */
import { omitUndefined } from '@tollgate/service-kit';
import { z } from 'zod';
import { onTopics } from '../public-object.ts';
import { type PublicMessage, type PublicTopic, publicTopics } from '../topics/public-topics.ts';
import { gatewayTopics } from '../topics/topics.ts';
import { publicError } from '../values.ts';
import { headersSchema } from './headers.ts';
import type { EncodedRecord } from '../topics/record-format.ts';

type JsonObject = Record<string, unknown>;

const description = `Tollgate publishes every event of every payment, payout and dispute, and every entry of the journal: each once, and in
order per key.

A record of an event carries the state of its subject after it, so consumers need no further call. Fields and event types may
be added at any time: ignore unknown ones. A consumer that crashes before the commit of its
offset receives the record again. Detect the repeat by its key and \`ce_sequence\`, and that of a journal entry by its \`ce_id\`.`;

export const createAsyncApiDocument = () => ({
  asyncapi: '3.0.0',
  info: { title: 'Tollgate', version: '1', description, license: { name: 'Apache-2.0' } },
  defaultContentType: 'application/json',
  channels: Object.fromEntries(publicTopics.map((each) => [each.topic, toChannel(each)])),
  operations: Object.fromEntries(publicTopics.map((each) => [`publish ${each.topic}`, toOperation(each)])),
  components: { messages: Object.fromEntries(publicTopics.flatMap(toMessages)), schemas: toSchemas() },
});

function toChannel({ topic, contents, messages }: PublicTopic): JsonObject {
  const made = gatewayTopics.find((each) => each.topic === topic);
  if (made === undefined) throw new RangeError(`${topic} is not in the list of topics`);
  return {
    address: topic,
    description: contents,
    messages: Object.fromEntries(messages.map(({ type }) => [type, refTo('messages', type)])),
    bindings: {
      kafka: {
        partitions: made.partitions,
        topicConfiguration: {
          'cleanup.policy': [made.cleanup],
          'retention.ms': made.retentionMs === 'forever' ? -1 : made.retentionMs,
        },
        bindingVersion: '0.5.0',
      },
    },
  };
}

const toOperation = ({ topic, contents }: PublicTopic): JsonObject => ({
  action: 'send',
  channel: { $ref: `#/channels/${topic}` },
  summary: contents,
});

const toMessages = ({ key, messages }: PublicTopic): [string, JsonObject][] =>
  messages.map((message) => [message.type, toMessage(key, message)]);

function toMessage(key: string, { type, event, meaning, example }: PublicMessage): JsonObject {
  const typeOfThis = { type: 'object', properties: { ce_type: { const: type } } };
  return {
    name: type,
    title: event,
    summary: meaning,
    contentType: 'application/json',
    headers: { allOf: [refTo('schemas', 'Headers'), typeOfThis] },
    payload: refTo('schemas', type),
    bindings: { kafka: { key: { type: 'string', description: key }, bindingVersion: '0.5.0' } },
    ...omitUndefined({ examples: example && [toExample(example)] }),
  };
}

const toExample = ({ headers, value }: EncodedRecord): JsonObject => ({
  headers,
  payload: JSON.parse(new TextDecoder().decode(value)) as unknown,
});

const refTo = (section: 'messages' | 'schemas', name: string) => ({
  $ref: `#/components/${section}/${name}`,
});

const capitalised = (name: string) => `${name.charAt(0).toUpperCase()}${name.slice(1)}`;

function toSchemas(): Record<string, JsonObject> {
  const registry = z.registry<{ id: string }>();
  registry.add(headersSchema, { id: 'Headers' });
  registry.add(onTopics(publicError), { id: 'Error' });
  for (const { subject, subjectSchema, messages } of publicTopics) {
    registry.add(subjectSchema, { id: capitalised(subject) });
    for (const { type, schema } of messages) registry.add(schema, { id: type });
  }
  const uri = (id: string) => `#/components/schemas/${id}`;
  // AsyncAPI uses this draft.
  const { schemas } = z.toJSONSchema(registry, { target: 'draft-07', uri, override: finish });
  return Object.fromEntries(
    Object.entries(schemas).map(([name, { $schema: _, $id: __, ...schema }]) => [name, schema]),
  );
}

function finish({ jsonSchema }: { jsonSchema: z.core.JSONSchema.BaseSchema }): void {
  // Consumers must accept fields that are added later.
  if (jsonSchema.additionalProperties === false) delete jsonSchema.additionalProperties;
  // The format `date-time` already implies the pattern.
  if (jsonSchema.format === 'date-time') delete jsonSchema.pattern;
  if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum;
  if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum;
}
