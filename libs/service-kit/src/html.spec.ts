import { expect, it } from 'vitest';
// By another name: Prettier lays out what is called `html`.
import { html as markup } from './html.ts';

it('escapes what is put in, and takes HTML and lists of it as they are', () => {
  const rows = [markup`<li>${'<b>"&'}</li>`, undefined];
  expect(markup`<ul title="${"'x'"}">${rows}${undefined}${7}</ul>`.html).toBe(
    '<ul title="&#39;x&#39;"><li>&lt;b&gt;&quot;&amp;</li>7</ul>',
  );
});

it('leaves out the indentation of the code, and nothing of what is put in', () => {
  const text = 'one\n    two';
  const page = markup`<p>
    <b>so</b>
    <pre>${text}</pre>
  </p>`;
  expect(page.html).toBe('<p>\n<b>so</b>\n<pre>one\n    two</pre>\n</p>');
});
