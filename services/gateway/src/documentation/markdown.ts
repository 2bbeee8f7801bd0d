/** Renders Markdown as HTML, with GitHub's anchors for headings. */
import { Marked, type RendererObject } from 'marked';
import { type Html, html, trustedHtml } from '@tollgate/service-kit';

/** The address of a link's target; undefined if the site does not contain it. */
type AddressOf = (target: string) => string | undefined;

export function renderMarkdown(text: string, addressOf: AddressOf): string {
  return new Marked({ renderer: rendererWith(addressOf) }).parse(text, { async: false });
}

/** Quotes stay as they are: escaped, they would be a quarter of a JSON example. */
const codeBlock = (text: string): Html =>
  trustedHtml(
    `<pre tabindex="0"><code>${text.replaceAll('&', '&amp;').replaceAll('<', '&lt;')}</code></pre>`,
  );

const anchorOf = (heading: string): string =>
  heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
    .trim()
    .replaceAll(/\s/g, '-');

/** Like GitHub, a repeated heading gets a number. */
function createAnchors(): (heading: string) => string {
  const counts = new Map<string, number>();
  return (heading) => {
    const anchor = anchorOf(heading);
    const count = counts.get(anchor) ?? 0;
    counts.set(anchor, count + 1);
    return count === 0 ? anchor : `${anchor}-${count}`;
  };
}

function rendererWith(addressOf: AddressOf): RendererObject {
  const anchors = createAnchors();
  const isElsewhere = (target: string) => /^[a-z]+:/.test(target);
  return {
    heading({ tokens, depth, text }) {
      const id = anchors(text);
      return `<h${depth} id="${id}">${this.parser.parseInline(tokens)}</h${depth}>\n`;
    },
    link({ href, tokens }) {
      const content = trustedHtml(this.parser.parseInline(tokens));
      const address = isElsewhere(href) ? href : addressOf(href);
      return (address === undefined ? content : html`<a href="${address}">${content}</a>`).html;
    },
    image({ href, text }) {
      return html`<img src="${addressOf(href) ?? href}" alt="${text}" />`.html;
    },
    table(token) {
      const cellsOf = (cells: typeof token.header, name: 'th' | 'td') =>
        cells.map((cell) => `<${name}>${this.parser.parseInline(cell.tokens)}</${name}>`).join('');
      const rows = token.rows.map((row) => `<tr>${cellsOf(row, 'td')}</tr>`).join('\n');
      return `<div class="scroll" tabindex="0"><table>\n<thead><tr>${cellsOf(token.header, 'th')}</tr></thead>\n<tbody>${rows}</tbody>\n</table></div>\n`;
    },
    code({ text }) {
      return `${codeBlock(text).html}\n`;
    },
  };
}
