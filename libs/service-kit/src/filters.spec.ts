import { describeTimeBound } from '@tollgate/testing/time-bound';
import { canonicalJson } from './canonical-json.ts';
import { printable } from './command-line.ts';
import { duplicateKeyIn } from './duplicate-key.ts';
import { html } from './html.ts';
import { nameOf } from './invalid-request.ts';

const body = 64 * 1024;
/** Twice in a body, and escaped in JSON. */
const text = body / 4;

const listsIn = (text: string) => '['.repeat(text.length / 2) + ']'.repeat(text.length / 2);
const objectsIn = (text: string) => '{"a":'.repeat(text.length / 6) + '0' + '}'.repeat(text.length / 6);

describeTimeBound([
  ['search for a duplicate key', text, (text) => duplicateKeyIn(JSON.stringify({ a: text, [text]: text }))],
  ['search for a duplicate key in many', body, (text) => duplicateKeyIn(JSON.stringify(keysOf(text)))],
  ['search for a duplicate key in deep lists', body, (text) => duplicateKeyIn(listsIn(text))],
  ['search for a duplicate key in deep objects', body, (text) => duplicateKeyIn(objectsIn(text))],
  ['canonical JSON', text, (text) => canonicalJson({ [text]: text, a: keysOf(text) })],
  ['HTML', body, (text) => html`<p title="${text}">${text}</p>`],
  ['a line of a terminal', body, printable],
  ['name of a parameter', body, (text) => nameOf([text, text])],
]);

/** As many short keys as fit. */
const keysOf = (text: string): Record<string, string> =>
  Object.fromEntries(
    Array.from({ length: text.length / 12 }, (_none, index) => [`k${index}`, text.charAt(index)]),
  );
