/**
 * Common client generators produced clients that did not compile, or that failed at the first new value of a list. The
 * constructs that broke
 * them are forbidden in the document. `npm run test:clients` compiles and uses the clients themselves.
 */
import { describe, expect, it } from 'vitest';
import { answerSchemas } from './answers.ts';
import { createOpenApiDocument } from './openapi.ts';

type Node = Record<string, unknown>;

const document = createOpenApiDocument();
const { schemas } = document.components;

function* schemasIn(value: unknown, path: string): Generator<[string, Node]> {
  if (typeof value !== 'object' || value === null) return;
  if (!Array.isArray(value)) yield [path, value as Node];
  for (const [name, child] of Object.entries(value))
    if (name !== 'example' && name !== 'examples') yield* schemasIn(child, `${path}/${name}`);
}

const everywhere = [...schemasIn(document, '')];
const inAnswers = Object.keys(answerSchemas).flatMap((name) => [...schemasIn(schemas[name], name)]);
const calls = [...Object.values(document.paths), ...Object.values(document.webhooks)].flatMap(
  (each) => Object.values(each) as { operationId: string; tags: string[] }[],
);
const pathsOf = (nodes: readonly [string, Node][], isWrong: (node: Node, path: string) => boolean) =>
  nodes.filter(([path, node]) => isWrong(node, path)).map(([path]) => path);
const isOf = (type: string) => (node: Node) => [node['type']].flat().includes(type);

describe('constructs that break generators', () => {
  it.each<[string, (node: Node) => boolean]>([
    ['a union or an intersection', (node) => 'anyOf' in node || 'oneOf' in node || 'allOf' in node],
    [
      'a value of several types',
      ({ type }) => Array.isArray(type) && (type.length > 2 || type[1] !== 'null'),
    ],
    ['a constant', (node) => 'const' in node],
    [
      'an integer that 32 bits may not hold, and that does not say so',
      ({ maximum = Infinity, ...node }) =>
        isOf('integer')(node) && node['format'] !== 'int64' && Number(maximum) >= 2 ** 31,
    ],
    ['a number of 32 bits', (node) => isOf('number')(node) && node['format'] !== 'double'],
    [
      'a list of values without a name',
      ({ items }) => typeof items === 'object' && 'enum' in (items as Node),
    ],
  ])('%s', (_, isWrong) => {
    expect(pathsOf(everywhere, isWrong)).toEqual([]);
  });

  it('a schema named like a constructor of Go', () => {
    expect(Object.keys(schemas).filter((name) => name.startsWith('New'))).toEqual([]);
  });

  it('one name twice', () => {
    const ids = calls.map(({ operationId }) => operationId);
    expect(new Set(ids).size).toBe(ids.length);
    const names = Object.keys(schemas).map((name) => name.toLowerCase());
    expect(new Set(names).size).toBe(names.length);
  });

  it('webhooks among the calls of a tag', () => {
    const tagsOf = (each: object) =>
      Object.values(each).flatMap((methods) => Object.values(methods as Node) as { tags: string[] }[]);
    const ofCalls = new Set(tagsOf(document.paths).flatMap(({ tags }) => tags));
    for (const { tags } of tagsOf(document.webhooks))
      for (const tag of tags) expect(ofCalls).not.toContain(tag);
  });
});

describe('a release may add', () => {
  it('a value to each list of an answer: it names those of today', () => {
    expect(pathsOf(inAnswers, (node) => 'enum' in node)).toEqual([]);
    expect(schemas['Payment']).toMatchObject({
      properties: { phase: { type: 'string', 'x-extensible-enum': expect.arrayContaining(['unresolved']) } },
    });
  });

  it('a field to each answer', () => {
    expect(pathsOf(inAnswers, ({ additionalProperties }) => additionalProperties === false)).toEqual([]);
  });

  it('an event: its data are the fields that any event has, and those that all have are required', () => {
    const { properties, required } = schemas['PaymentEvent'] as { properties: Node; required: string[] };
    expect(required).toEqual(expect.arrayContaining(['type', 'data']));
    expect(properties['type']).toMatchObject({
      'x-extensible-enum': expect.arrayContaining(['PaymentRequested', 'ReviewOpened']),
      description: expect.stringContaining('`PaymentDeclined`: The payment was declined.'),
    });
    expect(properties['data']).toMatchObject({
      required: [],
      properties: { refundToken: { type: 'string' }, evidence: { type: 'object' } },
    });
  });
});

// Half of it were examples, repeated at each call: a megabyte, over which generators and readers took their time.
it('is at most half a megabyte', () => {
  expect(JSON.stringify(document).length).toBeLessThan(500_000);
});
