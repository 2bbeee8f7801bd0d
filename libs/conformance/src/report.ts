/** The report as text: a line for each test, a table by section, and the totals as the last line. */
import { sectionOf, type ConformanceTest } from './conformance-test.ts';
import type { RunSummary, TestResult } from './runner.ts';

const titles: Readonly<Record<string, string>> = {
  '§1': 'What the service does',
  '§2': 'Resources and their fields',
  '§3': 'States and transitions',
  '§4': 'Endpoints',
  '§5': 'Authentication',
  '§6': 'Events',
  '§7': 'Errors',
  '§9': 'Versioning',
};

const marks = { passed: 'passed ', failed: 'FAILED ', 'not run': 'not run' } as const;

export const testTitle = ({ name, basis }: Pick<ConformanceTest, 'name' | 'basis'>): string =>
  basis === 'decision' ? `${name} (decision)` : name;

/** One line, and a second one with the reason if it did not pass. */
export function progressLine(result: TestResult): string {
  const { outcome, durationMs, reason, relies } = result;
  const line = `${marks[outcome]} ${testTitle(result)}${outcome === 'not run' ? '' : ` (${durationMs} ms)`}`;
  if (reason === undefined) return line;
  const decided =
    outcome === 'failed' && relies !== undefined ? `\n        This relies on a decision: ${relies}.` : '';
  return `${line}\n        ${reason}${decided}`;
}

export interface Totals {
  passed: number;
  failed: number;
  notRun: number;
}

export const totalsOf = (results: readonly TestResult[]): Totals => {
  const count = (outcome: TestResult['outcome']) => results.filter((each) => each.outcome === outcome).length;
  return { passed: count('passed'), failed: count('failed'), notRun: count('not run') };
};

const widths = [34, 7, 7, 8] as const;

const row = (first: string, ...rest: readonly (string | number)[]): string =>
  [first.padEnd(widths[0]), ...rest.map((cell, at) => String(cell).padStart(widths[at + 1] ?? 8))].join('');

/** The table by section, the failed tests again, and the closing line. */
export function closingReport({ results, durationMs, isCutShort }: RunSummary): string {
  const sections = [...new Set(results.map(sectionOf))];
  const rows = sections.map((section) => {
    const { passed, failed, notRun } = totalsOf(results.filter((result) => sectionOf(result) === section));
    return row(`${section} ${titles[section] ?? ''}`, passed, failed, notRun);
  });
  const failures = results
    .filter(({ outcome }) => outcome === 'failed')
    .map((each) => `  ${testTitle(each)}`);
  const { passed, failed, notRun } = totalsOf(results);
  return [
    '',
    row('Section', 'passed', 'failed', 'not run'),
    ...rows,
    ...(failures.length === 0 ? [] : ['', 'Failed:', ...failures]),
    '',
    ...(isCutShort ? ['The time for the whole run was over; --timeout gives more.'] : []),
    `${(durationMs / 1000).toFixed(1)} s`,
    `${passed} passed, ${failed} failed, ${notRun} not run`,
    '',
  ].join('\n');
}

/** The same as one JSON document. */
export function jsonReport(baseUrl: string, { results, ...summary }: RunSummary): string {
  const shown = results.map((result) => ({ section: sectionOf(result), ...result }));
  return `${JSON.stringify({ baseUrl, ...summary, ...totalsOf(results), results: shown }, null, 2)}\n`;
}
