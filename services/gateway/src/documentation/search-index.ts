/** The search index of the documentation site: the text of each page, by heading. */

export interface Found {
  id: string;
  page: string;
  heading: string;
  text: string;
}

const headings = /<h[1-4] id="([^"]+)">([\s\S]*?)<\/h[1-4]>/g;

/** The headings of a page's HTML with the text below each. */
export function sectionsOf(content: string): readonly { anchor: string; heading: string; text: string }[] {
  const found = [...content.matchAll(headings)];
  return found.map((match, index) => {
    const [whole, anchor = '', heading = ''] = match;
    const text = content.slice(match.index + whole.length, found[index + 1]?.index);
    return { anchor, heading: textOf(heading), text: textOf(text) };
  });
}

const entities: Readonly<Record<string, string>> = {
  '&amp;': '&',
  '&lt;': '<',
  '&gt;': '>',
  '&quot;': '"',
  '&#39;': "'",
};

/** The visible text of HTML. */
const textOf = (markup: string): string =>
  markup
    .replaceAll(/<\/?(?:code|b|i|em|strong|a|span)\b[^>]*>/g, '')
    .replaceAll(/<[^>]+>/g, ' ')
    .replaceAll(/&(?:amp|lt|gt|quot|#39);/g, (entity) => entities[entity] ?? '')
    .replaceAll(/\s+/g, ' ')
    .trim();

/** The entries of one page. */
export const entriesOf = (path: string, title: string, content: string): readonly Found[] =>
  sectionsOf(content).map(({ anchor, heading, text }) => ({
    id: `${path}#${anchor}`,
    page: title,
    heading,
    text,
  }));
