/**
 * Checks the prose of the documents: sentence lengths per page, and phrases that the style guide forbids.
 *
 *     node infra/check-prose.ts [--all] [pages…]
 */
import { globSync, readFileSync } from 'node:fs';

/** Words per sentence. A page above one of these fails. */
const limits = { mean: 16, ninetyFifth: 28 };

/** Each with its replacement. CONTRIBUTING.md has the rules. */
const forbidden: readonly (readonly [pattern: RegExp, instead: string])[] = [
  [/\b(?:nobody|somebody|anybody|everybody)\b/giu, 'name the role, or use the passive'],
  [/\bof (?:ours|theirs|before)\b/giu, 'our …, their …, existing …'],
  [/\b(?:tells?|told)\b/giu, 'returns, reports, logs'],
  [/\b(?:for ever|no more|anew)\b/giu, 'permanently, no longer, again'],
  [/\b(?:let go of|set aside|given up|taken for good)\b/giu, 'released, quarantined, abandoned'],
  [/\bstands? (?:beside|behind|for itself)\b/giu, 'is next to, follows'],
  [
    /(?:^|[.:] )(?:What|Whoever|Who|Whatever) [a-z]+(?: [a-z]+){0,6} (?:is|are|has|have|was|were)\b(?![^.]*\?)/gu,
    'begin with a noun',
  ],
];

export interface PageFigures {
  page: string;
  sentences: number;
  mean: number;
  ninetyFifth: number;
  hits: { line: number; text: string; instead: string }[];
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
  const total = lengths.reduce((sum, length) => sum + length, 0);
  return {
    page,
    sentences: lengths.length,
    mean: lengths.length === 0 ? 0 : total / lengths.length,
    ninetyFifth: lengths[Math.ceil(lengths.length * 0.95) - 1] ?? 0,
    hits: hitsIn(markdown),
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

/** Pages that are generated, or that quote others. */
const exempt = ['docs/operator/configuration.md', 'docs/team/errors.md'];
/** Pages that are checked. Others are added as they are rewritten. */
const checked = [
  'CHANGELOG.md',
  'README.md',
  'ARCHITECTURE.md',
  'CONTRIBUTING.md',
  'SECURITY.md',
  'docs/guarantees.md',
  'docs/performance.md',
  'docs/contributor/benchmarks.md',
  'docs/operator/accounts.md',
  'docs/operator/backup-and-restore.md',
  'docs/operator/balances-and-limits.md',
  'docs/operator/commands-and-routes.md',
  'docs/operator/console.md',
  'docs/operator/eventstoredb.md',
  'docs/operator/kafka.md',
  'docs/operator/kubernetes.md',
  'docs/operator/monitoring.md',
  'docs/operator/moving.md',
  'docs/operator/people.md',
  'docs/operator/personal-data.md',
  'docs/operator/processes.md',
  'docs/operator/README.md',
  'docs/operator/reconciliation.md',
  'docs/operator/retention.md',
  'docs/operator/reviews.md',
  'docs/operator/runbook.md',
  'docs/operator/secrets-and-tls.md',
  'docs/operator/security-log.md',
  'docs/operator/sizing.md',
  'docs/operator/teams-and-keys.md',
  'docs/operator/upgrading.md',
  'docs/operator/webhooks.md',
];

function main(args: readonly string[]): number {
  const isAll = args.includes('--all');
  const named = args.filter((each) => !each.startsWith('--'));
  const all = globSync(['*.md', 'docs/**/*.md']).filter((page) => !exempt.includes(page));
  const pages = named.length > 0 ? named : isAll ? all.toSorted() : checked;
  let failures = 0;
  for (const page of pages) {
    const { mean, ninetyFifth, hits, sentences } = figuresOf(page, readFileSync(page, 'utf8'));
    const isTooLong = mean > limits.mean || ninetyFifth > limits.ninetyFifth;
    if (isTooLong || hits.length > 0) failures += 1;
    if (isTooLong || hits.length > 0 || isAll)
      console.log(
        `${page}: ${sentences} sentences, mean ${mean.toFixed(1)} words, 95th percentile ${ninetyFifth}, ${hits.length} hits`,
      );
    if (!isAll)
      for (const { line, text, instead } of hits) console.log(`  ${page}:${line}  "${text}": ${instead}`);
  }
  console.log(`${pages.length} pages, ${failures} above the limits`);
  return failures === 0 || isAll ? 0 : 1;
}

if (import.meta.main) process.exitCode = main(process.argv.slice(2));
