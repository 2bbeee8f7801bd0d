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
import { payoutPath } from './payouts.ts';
import { byNames, outcomeChip } from './reconciliations.ts';

const countNames = {
  matched: 'Matched',
  differing: 'Differing',
  onlyHere: 'Only in our books',
  onlyAtService: 'Only at the Payment Service',
  onOtherDays: 'There under another day',
  underWay: 'Too young to compare',
};

const sumNames = { payments: 'Payments approved', refunds: 'Refunded', payouts: 'Paid out' };

const kindNames: Readonly<Record<string, string>> = {
  differs: 'differs',
  another_token: 'another one under our number',
  only_here: 'only in our books',
  only_at_service: 'only at the Payment Service',
};

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
  const main = html`<p class="calm"><a href="/console/reconciliations">All reconciliations</a></p>
    <div class="heading">
      <h1>${title}</h1>
      <p>
        ${outcomeChip(report)} <span class="mode">${environment}</span>
        ${isDryRun ? html`<span class="mode">compared only</span>` : undefined}
        <span class="calm">${byNames[by]}, ${time(endedAt)}</span>
      </p>
    </div>
    ${factList(Object.entries(countNames).map(([name, text]) => [text, String(counts[name as keyof typeof counts])]))}
    <section class="panel" aria-labelledby="sums-title">
      <h2 id="sums-title">Sums</h2>
      ${listTable(sumList, linesOf(report.sums))}
    </section>
    <section class="panel" aria-labelledby="differences-title">
      <h2 id="differences-title">Differences</h2>
      ${report.differences.length === 0 ? html`<p class="calm">Nothing differs.</p>` : listTable(differenceList, report.differences)}
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

const sumList: List<SumLine> = {
  name: 'sums',
  label: 'Sums',
  keyOf: ({ name, currency }) => `${currency} ${name}`,
  columns: [
    { id: 'what', name: 'What', cell: ({ name }) => name },
    {
      id: 'ours',
      name: 'In our books',
      isNumber: true,
      cell: ({ ours, currency }) => amount(ours, currency),
    },
    {
      id: 'theirs',
      name: 'At the Payment Service',
      isNumber: true,
      cell: ({ theirs, currency }) => amount(theirs, currency),
    },
    {
      id: 'apart',
      name: 'Difference',
      isNumber: true,
      cell: ({ ours, theirs, currency }) =>
        ours === theirs ? chip('0', 'good') : chip(amountOf(theirs - ours, currency), 'bad'),
    },
  ],
};

const linesOf = (sums: readonly Sums[]): SumLine[] =>
  sums.flatMap((each) =>
    Object.entries(sumNames).map(([key, name]) => ({
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
  label: 'Differences',
  keyOf: ({ kind, serviceToken }) => `${serviceToken} ${kind}`,
  columns: [
    { id: 'subject', name: 'Ours', width: 'token', cell: objectLink },
    {
      id: 'state',
      name: 'What',
      width: 'word',
      cell: ({ kind }) => kindNames[kind] ?? kind,
    },
    {
      id: 'service',
      name: 'Token of the Payment Service',
      cell: ({ serviceToken }) => html`<code title="${serviceToken}">${serviceToken}</code>`,
    },
    {
      id: 'ours',
      name: 'In our books',
      width: 'state',
      cell: ({ here, currency }) => sideOf(here, currency),
    },
    {
      id: 'theirs',
      name: 'At the Payment Service',
      width: 'state',
      cell: ({ there, currency }) => sideOf(there, currency),
    },
    {
      id: 'settled',
      name: 'Followed up',
      width: 'word',
      cell: ({ isSettled }) => (isSettled ? 'inquired, or a review is open' : 'not yet'),
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
