import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';

const textOf = (path: string) => readFileSync(new URL(path, import.meta.url), 'utf8');
const metricsIn = (text: string) => [...new Set(text.match(/\btollgate_[a-z_]+/g))].toSorted();

it('the runbook describes what to do for every metric', () => {
  const runbook = textOf('../../../../../docs/operator/runbook.md');
  const rows = runbook.split('\n').filter((line) => line.startsWith('| `tollgate_'));
  const described = rows.map((row) => /`(\w+)`/.exec(row)?.[1]).toSorted();
  expect(described).toEqual(metricsIn(textOf('./metrics.ts')));
});
