import { expect, it } from 'vitest';
import { renderMarkdown } from './markdown.ts';
import { entriesOf } from './search-index.ts';

const render = (text: string) => renderMarkdown(text, (target) => (target === 'a.md' ? 'a.html' : undefined));

it.each([
  ['# The `code` of: an_error', '<h1 id="the-code-of-an_error">The <code>code</code> of: an_error</h1>'],
  ['[page](a.md)', '<p><a href="a.html">page</a></p>'],
  ['[source *code*](src/a.ts)', '<p>source <em>code</em></p>'],
  [
    '[elsewhere](https://example.com/?a=1&b=2)',
    '<p><a href="https://example.com/?a=1&amp;b=2">elsewhere</a></p>',
  ],
  ['```sh\necho "<a> & b"\n```', '<pre tabindex="0"><code>echo "&lt;a> &amp; b"</code></pre>'],
])('renders %s', (text, expected) => {
  expect(render(text).trim()).toBe(expected);
});

it('numbers the anchors of repeated headings', () => {
  const anchors = [...render('## Same\n\n## Same').matchAll(/id="([^"]+)"/g)].map(([, id]) => id);
  expect(anchors).toEqual(['same', 'same-1']);
});

it('finds the text below each heading, without markup', () => {
  const content = render('# Title\n\nA `<b>` & c.\n\n## Part\n\n| x | y |\n| - | - |\n| 1 | 2 |');
  expect(entriesOf('a.html', 'Title', content)).toEqual([
    { id: 'a.html#title', page: 'Title', heading: 'Title', text: 'A <b> & c.' },
    { id: 'a.html#part', page: 'Title', heading: 'Part', text: 'x y 1 2' },
  ]);
});
