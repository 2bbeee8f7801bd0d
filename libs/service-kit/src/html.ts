/** HTML that has been escaped already. */
export interface Html {
  readonly html: string;
}

type Part = string | number | Html | readonly (Html | undefined)[] | undefined;

/** Builds HTML: every text put in is escaped, for element content and quoted attributes; undefined is nothing. */
export const html = (strings: TemplateStringsArray, ...parts: Part[]): Html => ({
  html: String.raw({ raw: compactOf(strings) }, ...parts.map(toMarkup)),
});

const compacts = new WeakMap<TemplateStringsArray, readonly string[]>();

/** Without the indentation of the code, which was more than half of a long table: white space is as good as one line break. */
function compactOf(strings: TemplateStringsArray): readonly string[] {
  const known = compacts.get(strings);
  if (known !== undefined) return known;
  const compact = strings.map((text) => text.replace(/\s*\n\s*/g, '\n'));
  compacts.set(strings, compact);
  return compact;
}

/** Our own markup, inserted unescaped. */
export const trustedHtml = (markup: string): Html => ({ html: markup });

function toMarkup(part: Part): string {
  if (part === undefined) return '';
  if (typeof part === 'string' || typeof part === 'number') return escape(String(part));
  return 'html' in part ? part.html : part.map((each) => each?.html ?? '').join('');
}

const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

const escape = (text: string): string => text.replace(/[&<>"']/g, (character) => entities[character] ?? '');
