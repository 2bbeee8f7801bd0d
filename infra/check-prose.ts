/**
 * Checks the prose of the documents: sentence lengths per page, and phrases that the style guide forbids.
 *
 *     node infra/check-prose.ts [--all] [pages…]
 */
import { globSync, readFileSync } from 'node:fs';

/** Words per sentence: of each page, and of all pages together. */
const pageLimits = { mean: 16, ninetyFifth: 28 };
const limits = { mean: 14, ninetyFifth: 26 };

/** Pages that are not checked, with the reason. */
const exceptions: Readonly<Record<string, string>> = {
  'docs/operator/configuration.md': 'generated from the descriptions in config.ts',
  'docs/team/errors.md': 'generated from the table of error codes',
};
const glossary = 'docs/contributor/glossary.md';

/** Each with its replacement. CONTRIBUTING.md has the rules. */
const forbidden: readonly (readonly [pattern: RegExp, instead: string])[] = [
  [/\bof (?:ours|theirs|before)\b/giu, 'our …, their …, existing …'],
  [/\b(?:tells?|told)\b/giu, 'returns, reports, logs'],
  [/\b(?:no more|anew)\b/giu, 'no longer, again'],
  [/\bstands? (?:beside|behind|for itself)\b/giu, 'is next to, follows'],
  [/\b(?:is|are) none\b/giu, 'does not exist, is not one'],
  [
    /(?:^|[.:] )(?:What|Whoever|Who|Whatever) [a-z]+(?: [a-z]+){0,6} (?:is|are|has|have|was|were)\b(?![^.]*\?)/gu,
    'begin with a noun',
  ],
  ...wordsToAvoid(readFileSync(glossary, 'utf8')),
];

/** Reads the table of the glossary: `| write | never, never |`. */
export function wordsToAvoid(markdown: string): (readonly [RegExp, string])[] {
  const table = markdown.split('## Words to avoid')[1] ?? '';
  const rows = table.split('\n').flatMap((line) => {
    const [, write, never] = line.split('|').map((cell) => cell.trim());
    return write && never && !/^-+$/u.test(write) && write !== 'write' ? [{ write, never }] : [];
  });
  return rows.flatMap(({ write, never }) =>
    never.split(', ').map((phrase) => [new RegExp(`\\b${phrase}\\b`, 'giu'), write] as const),
  );
}

export interface PageFigures {
  page: string;
  sentences: number;
  mean: number;
  ninetyFifth: number;
  hits: { line: number; text: string; instead: string }[];
  /** Words of each sentence, in ascending order. */
  lengths: number[];
}

/** Paragraphs and list items, without code, tables, headings and link targets. */
export function sentencesOf(markdown: string): string[] {
  const prose = markdown
    .replace(/^---\n.*?\n---\n/su, '')
    .replace(/```.*?```/gsu, '')
    .split('\n')
    .filter((line) => !/^\s*(?:\||#|<|!\[|>? ?```)/u.test(line))
    .map((line) => line.replace(/^\s*(?:[-*]|\d+\.) /u, '\n\n').replace(/^> /u, ''))
    .join('\n')
    .replace(/`[^`]*`/gu, 'Code')
    .replace(/\[([^\]]*)\]\([^)]*\)/gu, '$1');
  return prose
    .split(/\n\s*\n/u)
    .flatMap((paragraph) => paragraph.replace(/\s+/gu, ' ').split(/(?<=[.!?:;]["”)*]{0,3}) (?=[A-Z“"*(`])/u))
    .map((sentence) => sentence.trim())
    .filter((sentence) => wordsIn(sentence) > 2);
}

const wordsIn = (sentence: string): number => sentence.split(' ').filter((word) => /\w/u.test(word)).length;

export function figuresOf(page: string, markdown: string): PageFigures {
  const lengths = sentencesOf(markdown)
    .map(wordsIn)
    .toSorted((a, b) => a - b);
  return {
    page,
    sentences: lengths.length,
    ...spreadOf(lengths),
    hits: page === glossary ? [] : hitsIn(markdown),
    lengths,
  };
}

function spreadOf(ascending: readonly number[]): { mean: number; ninetyFifth: number } {
  const total = ascending.reduce((sum, length) => sum + length, 0);
  return {
    mean: ascending.length === 0 ? 0 : total / ascending.length,
    ninetyFifth: ascending[Math.ceil(ascending.length * 0.95) - 1] ?? 0,
  };
}

function hitsIn(markdown: string): PageFigures['hits'] {
  let isCode = false;
  return markdown.split('\n').flatMap((line, index) => {
    if (/^\s*```/u.test(line)) isCode = !isCode;
    if (isCode) return [];
    const text = line.replace(/`[^`]*`/gu, 'code').replaceAll(/\b[Nn]obody is charged twice\b/gu, 'promise');
    return forbidden.flatMap(([pattern, instead]) =>
      [...text.matchAll(pattern)].map(([hit]) => ({ line: index + 1, text: hit.trim(), instead })),
    );
  });
}

function main(args: readonly string[]): number {
  const isAll = args.includes('--all');
  const named = args.filter((each) => !each.startsWith('--'));
  const all = globSync(['*.md', 'docs/**/*.md', '{libs,services}/**/README.md'], {
    exclude: (path) => path === 'node_modules',
  }).filter((page) => !Object.hasOwn(exceptions, page));
  const pages = (named.length > 0 ? named : all.toSorted()).map((page) =>
    figuresOf(page, readFileSync(page, 'utf8')),
  );
  const failed = pages.filter((page) => exceeds(page, pageLimits) || page.hits.length > 0);
  for (const { page, mean, ninetyFifth, hits, sentences } of isAll ? pages : failed) {
    console.log(
      `${page}: ${sentences} sentences, mean ${mean.toFixed(1)} words, 95th percentile ${ninetyFifth}, ${hits.length} hits`,
    );
    if (isAll) continue;
    for (const { line, text, instead } of hits) console.log(`  ${page}:${line}  "${text}": ${instead}`);
  }
  const together = spreadOf(pages.flatMap(({ lengths }) => lengths).toSorted((a, b) => a - b));
  console.log(
    `${pages.length} pages, ${failed.length} above the limits; mean ${together.mean.toFixed(1)} words, 95th percentile ${together.ninetyFifth}`,
  );
  return failed.length === 0 && (named.length > 0 || !exceeds(together, limits)) ? 0 : 1;
}

const exceeds = (
  { mean, ninetyFifth }: { mean: number; ninetyFifth: number },
  limit: { mean: number; ninetyFifth: number },
): boolean => mean > limit.mean || ninetyFifth > limit.ninetyFifth;

if (import.meta.main) process.exitCode = main(process.argv.slice(2));
