/** The AsyncAPI document of the public topics, made of the schemas that consumers decode records with. */
import { apiErrorSchema, currencySchema } from '@tollgate/payment-api/values';
import { z } from 'zod';
import { gatewayTopics } from '../topics.ts';
import { headersSchema } from './headers.ts';
import { type PublicMessage, type PublicTopic, publicTopics } from './public-topics.ts';

type JsonObject = Record<string, unknown>;

export interface AsyncApiDocument {
  asyncapi: '3.0.0';
  info: JsonObject;
  defaultContentType: string;
  channels: Record<string, JsonObject>;
  operations: Record<string, JsonObject>;
  components: { messages: Record<string, JsonObject>; schemas: Record<string, JsonObject> };
}

const description = `What Tollgate tells: every event of every payment, payout and dispute, each once and those of a key in order.

A record holds the event and what it is about as that stood after it, so that no other call is needed. Fields and types of
events may be added at any time: leave out what you do not know. Whoever stops between the effect of a record and the commit
of its offset gets it again; the key and \`ce_sequence\` tell.`;

export const createAsyncApiDocument = (): AsyncApiDocument => ({
  asyncapi: '3.0.0',
  info: { title: 'Tollgate', version: '1', description, license: { name: 'Apache-2.0' } },
  defaultContentType: 'application/json',
  channels: Object.fromEntries(publicTopics.map((each) => [each.topic, toChannel(each)])),
  operations: Object.fromEntries(
    publicTopics.map((each) => [`publish-${each.subject}-events`, toOperation(each)]),
  ),
  components: {
    messages: Object.fromEntries(publicTopics.flatMap(toMessages)),
    schemas: toSchemas(),
  },
});

function toChannel({ topic, subject, messages }: PublicTopic): JsonObject {
  const made = gatewayTopics.find((each) => each.topic === topic);
  if (made === undefined) throw new RangeError(`${topic} is none of the topics that are made`);
  return {
    address: topic,
    description: `Every event of every ${subject}, keyed by its token.`,
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

const toOperation = ({ topic, subject }: PublicTopic): JsonObject => ({
  action: 'send',
  channel: { $ref: `#/channels/${topic}` },
  summary: `Tells what has happened to a ${subject}.`,
});

const toMessages = ({ subject, messages }: PublicTopic): [string, JsonObject][] =>
  messages.map((message) => [message.type, toMessage(subject, message)]);

function toMessage(subject: string, { type, event, meaning, example }: PublicMessage): JsonObject {
  const typeOfThis = { type: 'object', properties: { ce_type: { const: type } } };
  return {
    ...{ name: type, title: event, summary: meaning, contentType: 'application/json' },
    headers: { allOf: [refTo('schemas', 'Headers'), typeOfThis] },
    payload: refTo('schemas', type),
    bindings: {
      kafka: { key: { type: 'string', description: `Token of the ${subject}.` }, bindingVersion: '0.5.0' },
    },
    examples: [
      { headers: example.headers, payload: JSON.parse(new TextDecoder().decode(example.value)) as unknown },
    ],
  };
}

const refTo = (section: 'messages' | 'schemas', name: string) => ({
  $ref: `#/components/${section}/${name}`,
});

const capitalised = (name: string) => `${name.charAt(0).toUpperCase()}${name.slice(1)}`;

function toSchemas(): Record<string, JsonObject> {
  const registry = z.registry<{ id: string }>();
  registry.add(headersSchema, { id: 'Headers' });
  registry.add(apiErrorSchema, { id: 'Error' });
  for (const { subject, subjectSchema, messages } of publicTopics) {
    registry.add(subjectSchema, { id: capitalised(subject) });
    for (const { type, schema } of messages) registry.add(schema, { id: type });
  }
  const uri = (id: string) => `#/components/schemas/${id}`;
  // AsyncAPI's schemas are those of this draft.
  const { schemas } = z.toJSONSchema(registry, { target: 'draft-07', uri, override: finish });
  return Object.fromEntries(
    Object.entries(schemas).map(([name, { $schema: _, $id: __, ...schema }]) => [name, schema]),
  );
}

interface Built {
  zodSchema: unknown;
  jsonSchema: z.core.JSONSchema.BaseSchema;
}

function finish({ zodSchema, jsonSchema }: Built): void {
  // Whoever reads a record must bear a field that was added since.
  if (jsonSchema.additionalProperties === false) delete jsonSchema.additionalProperties;
  // Which three letters are a currency no pattern tells; `date-time` tells more than a pattern of it.
  if (zodSchema === currencySchema) jsonSchema.pattern = '^[A-Z]{3}$';
  if (jsonSchema.format === 'date-time') delete jsonSchema.pattern;
  if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum;
  if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum;
  const fields = publicTopics.find(({ subjectSchema }) => subjectSchema === zodSchema)?.subjectFields ?? {};
  for (const [name, text] of Object.entries(fields)) {
    const property = jsonSchema.properties?.[name];
    if (typeof property === 'object') property.description = text;
  }
}
