import { expect, it } from 'vitest';
// Under another name: Prettier formats templates named `html`.
import { html as markup } from './html.ts';

it('escapes inserted values, and keeps HTML and lists of it', () => {
  const rows = [markup`<li>${'<b>"&'}</li>`, undefined];
  expect(markup`<ul title="${"'x'"}">${rows}${undefined}${7}</ul>`.html).toBe(
    '<ul title="&#39;x&#39;"><li>&lt;b&gt;&quot;&amp;</li>7</ul>',
  );
});

it('removes the indentation of the code, and nothing of inserted values', () => {
  const text = 'one\n    two';
  const page = markup`<p>
    <b>so</b>
    <pre>${text}</pre>
  </p>`;
  expect(page.html).toBe('<p>\n<b>so</b>\n<pre>one\n    two</pre>\n</p>');
});
