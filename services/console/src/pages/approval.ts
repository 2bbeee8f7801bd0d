/** Approval rate over time by team, account or currency: a plot, and a table with the same figures. */
import type { AnswerOf } from '@tollgate/gateway-api/http';
import { type Html, html } from '@tollgate/service-kit';
import { queryOf } from '../api.ts';
import { filterForm, ownerFields } from '../components/filters.ts';
import { type Decided, percent, plot, rateOf, rateText } from '../components/plot.ts';
import { type List, column, listTable, tabs } from '../components/table.ts';
import type { Page } from '../page.ts';

const groupingNames = {
  all: 'All together',
  team: 'By team',
  account: 'By account',
  currency: 'By currency',
};
const rangeNames = { '24h': '24 hours', '7d': '7 days', '31d': '31 days' };
const path = '/console/approval';

export type OutcomeCount = AnswerOf<'OutcomeCounts'>['counts'][number];

type By = keyof typeof groupingNames;
const groupings = Object.keys(groupingNames) as By[];

const ranges = {
  '24h': { steps: 24, stepMs: 3_600_000, step: 'hour' },
  '7d': { steps: 7, stepMs: 86_400_000, step: 'day' },
  '31d': { steps: 31, stepMs: 86_400_000, step: 'day' },
} as const;
type Range = keyof typeof ranges;

/** Maximum number of distinguishable lines. */
const groupsMax = 5;

export const approvalPage: Page = async ({ api, query, now }) => {
  const by = groupings.find((each) => each === query.get('by')) ?? 'all';
  const range = Object.keys(ranges).find((each) => each === query.get('range')) ?? '7d';
  const { steps, stepMs, step } = ranges[range as Range];
  const first = (Math.floor(now / stepMs) - steps + 1) * stepMs;
  const at = Array.from({ length: steps }, (_, place) => new Date(first + place * stepMs).toISOString());
  const createdFrom = new Date(first).toISOString();
  const asked = queryOf(query, ['team', 'environment'], { step, createdFrom });
  if (by !== 'all') asked.set('by', by);
  const [{ counts }, { teams }] = await Promise.all([
    api.get<'OutcomeCounts'>(`/api/v1/admin/outcomes?${asked.toString()}`),
    api.get<'TeamNames'>('/api/v1/admin/teams'),
  ]);
  const lines = linesOf(counts, at, by);
  const addressWith = (name: string, value: string): string => {
    const next = new URLSearchParams({ range, by, ...Object.fromEntries(query) });
    next.set(name, value);
    return `${path}?${next.toString()}`;
  };
  const main = html`<h1>Approval rate</h1>
    <p class="calm">Approved payments among those approved or declined, by the time of their creation.</p>
    ${tabs(
      'Grouped by',
      addressWith('by', by),
      groupings.map((each) => [groupingNames[each], addressWith('by', each)]),
    )}
    ${tabs(
      'Range',
      addressWith('range', range),
      Object.entries(rangeNames).map(([each, name]) => [name, addressWith('range', each)]),
    )}
    ${filterForm(path, query, { by: 'hidden', range: 'hidden', ...ownerFields(teams) }, { given: { by, range } })}
    <section id="rates" data-region="">
      ${lines.length === 0 ? html`<p class="empty">No payment was approved or declined in this range.</p>` : ratesOf(lines.slice(0, groupsMax), at, step)}
      ${lines.length > groupsMax ? html`<p class="calm">${lines.length - groupsMax} more groups are not shown. Filter by team to see them.</p>` : undefined}
    </section>`;
  return { title: 'Approval rate', main };
};

/** A column of the table, and a line of the plot. */
interface Line {
  name: string;
  /** URL of the list of these payments. */
  address: string;
  sum: Decided;
  /** Undefined if nothing was decided in the step. */
  steps: readonly (Decided | undefined)[];
}

/** Groups with the most payments first. */
function linesOf(counts: readonly OutcomeCount[], at: readonly string[], by: By): Line[] {
  const byGroup = Map.groupBy(counts, ({ group = '' }) => group);
  return [...byGroup]
    .map(([group, ofGroup]): Line => {
      const filters = new URLSearchParams(by === 'all' ? {} : { [by]: group }).toString();
      return {
        name: by === 'all' ? 'Approval rate' : group,
        address: `/console/payments?${filters}`,
        steps: at.map((step) => ofGroup.find((count) => count.at === step)),
        sum: sumOf(ofGroup),
      };
    })
    .filter(({ sum }) => sizeOf(sum) > 0)
    .toSorted((one, other) => sizeOf(other.sum) - sizeOf(one.sum));
}

const sizeOf = ({ approved, declined }: Decided): number => approved + declined;

const sumOf = (all: readonly Decided[]): Decided => ({
  approved: all.reduce((sum, { approved }) => sum + approved, 0),
  declined: all.reduce((sum, { declined }) => sum + declined, 0),
});

function ratesOf(lines: readonly Line[], at: readonly string[], step: 'hour' | 'day'): Html {
  const values = lines.map((line) => ({
    name: line.name,
    values: line.steps.map((each) => each && rateOf(each)),
  }));
  const timeOf = (each: string): string =>
    step === 'day' ? each.slice(0, 10) : each.slice(5, 16).replace('T', ' ');
  // By the place of its step; the row without one is the whole range.
  const list: List<number | undefined> = {
    name: 'rates',
    label: 'Approval rate',
    keyOf: (place) => String(place),
    columns: [
      column('time', step === 'day' ? 'Day (UTC)' : 'Hour (UTC)', (place) =>
        place === undefined ? html`<strong>Whole range</strong>` : timeOf(at[place] ?? ''),
      ),
      ...lines.map(({ name, address, sum, steps }, line) =>
        column<number | undefined>(
          `group-${line}`,
          name,
          (place) => rateCell(place === undefined ? sum : steps[place]),
          { head: html`<a href="${address}">${name}</a>`, isNumber: true },
        ),
      ),
    ],
  };
  return html`<div class="large">
      ${plot({
        steps: at,
        stepName: step,
        lines: values,
        format: percent,
        top: 100,
        description: 'Rate over time. The table below has the same figures.',
      })}
    </div>
    ${listTable(list, [undefined, ...[...at.keys()].toReversed()])}`;
}

const rateCell = (decided: Decided | undefined): Html | string => {
  if (decided === undefined) return '–';
  const { approved, declined } = decided;
  return html`${rateText(approved, declined)}
    <small class="calm">${approved} of ${approved + declined}</small>`;
};
