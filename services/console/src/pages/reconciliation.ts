/** One day of one account: the totals on both sides, and all differences. */
import type { AnswerOf } from '@tollgate/gateway-api/http';
import { type Html, html } from '@tollgate/service-kit';
import { amount, amountText } from '../components/amount.ts';
import { factList } from '../components/facts.ts';
import { paymentPath } from '../components/payment-list.ts';
import { chip } from '../components/state.ts';
import { type List, listTable } from '../components/table.ts';
import { time } from '../components/time.ts';
import { shortToken } from '../components/token.ts';
import type { Page } from '../page.ts';
import { texts } from '../texts.ts';
import { payoutPath } from './payouts.ts';
import { outcomeChip } from './reconciliations.ts';

const words = texts.reconciliations;

type Report = AnswerOf<'OperatorReconciliation'>['reconciliation'];
type Difference = Report['differences'][number];
type Sums = Report['sums'][number];

export const reconciliationPage: Page = async ({ api, params }) => {
  const token = encodeURIComponent(params['token'] ?? '');
  const { reconciliation: report } = await api.get<'OperatorReconciliation'>(
    `/api/v1/admin/reconciliations/${token}`,
  );
  const { day, account, environment, counts, endedAt, by, isDryRun } = report;
  const title = `${day} · ${account}`;
  const main = html`<p class="calm"><a href="/console/reconciliations">${words.all}</a></p>
    <div class="heading">
      <h1>${title}</h1>
      <p>
        ${outcomeChip(report)} <span class="mode">${environment}</span>
        ${isDryRun ? html`<span class="mode">${words.dryRun}</span>` : undefined}
        <span class="calm">${words.by[by]}, ${time(endedAt)}</span>
      </p>
    </div>
    ${factList(Object.entries(words.counts).map(([name, text]) => [text, String(counts[name as keyof typeof counts])]))}
    <section class="panel" aria-labelledby="sums-title">
      <h2 id="sums-title">${words.sums}</h2>
      ${listTable(sumList, linesOf(report.sums))}
    </section>
    <section class="panel" aria-labelledby="differences-title">
      <h2 id="differences-title">${words.differences}</h2>
      ${report.differences.length === 0 ? html`<p class="calm">${words.none}</p>` : listTable(differenceList, report.differences)}
    </section>`;
  return { title, main };
};

/** One kind of money in one currency, on both sides. */
interface SumLine {
  name: string;
  currency: string;
  ours: number;
  theirs: number;
}

const { sumColumns, differenceColumns } = words;
const sumList: List<SumLine> = {
  name: 'sums',
  label: words.sums,
  keyOf: ({ name, currency }) => `${currency} ${name}`,
  columns: [
    { id: 'what', name: sumColumns.what, cell: ({ name }) => name },
    {
      id: 'ours',
      name: sumColumns.here,
      isNumber: true,
      cell: ({ ours, currency }) => amount(ours, currency),
    },
    {
      id: 'theirs',
      name: sumColumns.there,
      isNumber: true,
      cell: ({ theirs, currency }) => amount(theirs, currency),
    },
    {
      id: 'apart',
      name: sumColumns.difference,
      isNumber: true,
      cell: ({ ours, theirs, currency }) =>
        ours === theirs ? chip('0', 'good') : chip(amountOf(theirs - ours, currency), 'bad'),
    },
  ],
};

const linesOf = (sums: readonly Sums[]): SumLine[] =>
  sums.flatMap((each) =>
    Object.entries(words.sumNames).map(([key, name]) => ({
      name,
      currency: each.currency,
      ours: Number(each[`${key}Here` as keyof Sums]),
      theirs: Number(each[`${key}There` as keyof Sums]),
    })),
  );

const amountOf = (minor: number, currency: string): string =>
  `${minor > 0 ? '+' : '−'}${amountText(Math.abs(minor), currency)}`;

const differenceList: List<Difference> = {
  name: 'differences',
  label: words.differences,
  keyOf: ({ kind, serviceToken }) => `${serviceToken} ${kind}`,
  columns: [
    { id: 'subject', name: differenceColumns.object, width: 'token', cell: objectLink },
    {
      id: 'state',
      name: differenceColumns.kind,
      width: 'word',
      cell: ({ kind }) => words.kinds[kind] ?? kind,
    },
    {
      id: 'service',
      name: differenceColumns.service,
      cell: ({ serviceToken }) => html`<code title="${serviceToken}">${serviceToken}</code>`,
    },
    {
      id: 'ours',
      name: differenceColumns.here,
      width: 'state',
      cell: ({ here, currency }) => sideOf(here, currency),
    },
    {
      id: 'theirs',
      name: differenceColumns.there,
      width: 'state',
      cell: ({ there, currency }) => sideOf(there, currency),
    },
    {
      id: 'settled',
      name: differenceColumns.settled,
      width: 'word',
      cell: ({ isSettled }) => (isSettled ? words.settled : words.notSettled),
    },
  ],
};

function objectLink({ operation, token }: Difference): Html | string {
  if (token === undefined) return '–';
  const path = operation === 'payment' ? paymentPath : payoutPath;
  return html`<a href="${path(token)}" title="${token}"><code>${shortToken(token)}</code></a>`;
}

const sideOf = (amounts: Difference['here'], currency: string): Html | string =>
  amounts === undefined ? '–' : html`${chip(amounts.status)} ${amount(amounts.amount, currency)}`;
