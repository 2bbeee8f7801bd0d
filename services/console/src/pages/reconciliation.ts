/** One day of one account: the totals on both sides, and all differences. */
import type { AnswerOf } from '@tollgate/gateway-api/http';
import { type Html, html } from '@tollgate/service-kit';
import { amount, amountText } from '../components/amount.ts';
import { factList } from '../components/facts.ts';
import { panel } from '../components/form.ts';
import { chip } from '../components/state.ts';
import { type List, column, listTable } from '../components/table.ts';
import { time } from '../components/time.ts';
import { operationLink } from '../components/token.ts';
import type { Page } from '../page.ts';
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
    ${panel('sums', 'Sums', listTable(sumList, linesOf(report.sums)))}
    ${panel('differences', 'Differences', differencesOf(report))}`;
  return { title, main };
};

const differencesOf = ({ differences }: Report): Html =>
  differences.length === 0
    ? html`<p class="calm">Nothing differs.</p>`
    : listTable(differenceList, differences);

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
    column('what', 'What', ({ name }) => name),
    column('ours', 'In our books', ({ ours, currency }) => amount(ours, currency), { isNumber: true }),
    column('theirs', 'At the Payment Service', ({ theirs, currency }) => amount(theirs, currency), {
      isNumber: true,
    }),
    column('apart', 'Difference', apartCell, { isNumber: true }),
  ],
};

function apartCell({ ours, theirs, currency }: SumLine): Html {
  return ours === theirs ? chip('0', 'good') : chip(amountOf(theirs - ours, currency), 'bad');
}

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
    column('subject', 'Ours', ({ token }) => (token === undefined ? '–' : operationLink(token)), {
      width: 'token',
    }),
    column('state', 'What', ({ kind }) => kindNames[kind] ?? kind, { width: 'word' }),
    column('service', 'Token of the Payment Service', serviceCell),
    column('ours', 'In our books', ({ here, currency }) => sideOf(here, currency), { width: 'state' }),
    column('theirs', 'At the Payment Service', ({ there, currency }) => sideOf(there, currency), {
      width: 'state',
    }),
    column(
      'settled',
      'Followed up',
      ({ isSettled }) => (isSettled ? 'inquired, or a review is open' : 'not yet'),
      { width: 'word' },
    ),
  ],
};

function serviceCell({ serviceToken }: Difference): Html {
  return html`<code title="${serviceToken}">${serviceToken}</code>`;
}

const sideOf = (amounts: Difference['here'], currency: string): Html | string =>
  amounts === undefined ? '–' : html`${chip(amounts.status)} ${amount(amounts.amount, currency)}`;
