/** One day of one account: the totals on both sides, and all differences. */
import type { AnswerOf } from '@tollgate/gateway-api/http';
import { type Html, html } from '@tollgate/service-kit';
import { amount, amountText } from '../components/amount.ts';
import { factList } from '../components/facts.ts';
import { paymentPath } from '../components/payment-list.ts';
import { chip } from '../components/state.ts';
import { rowTable } from '../components/table.ts';
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
      ${sumTable(report.sums)}
    </section>
    <section class="panel" aria-labelledby="differences-title">
      <h2 id="differences-title">${words.differences}</h2>
      ${report.differences.length === 0 ? html`<p class="calm">${words.none}</p>` : differenceTable(report.differences)}
    </section>`;
  return { title, main };
};

function sumTable(sums: readonly Sums[]): Html {
  const { what, here, there, difference } = words.sumColumns;
  const rows = sums.flatMap((each) =>
    Object.entries(words.sumNames).map(([key, name]) => {
      const [ours, theirs] = [each[`${key}Here` as keyof Sums], each[`${key}There` as keyof Sums]].map(
        Number,
      );
      const apart = (theirs ?? 0) - (ours ?? 0);
      return html`<tr>
        <td>${name}</td>
        <td class="number">${amount(ours ?? 0, each.currency)}</td>
        <td class="number">${amount(theirs ?? 0, each.currency)}</td>
        <td class="number">
          ${apart === 0 ? chip('0', 'good') : chip(amountOf(apart, each.currency), 'bad')}
        </td>
      </tr>`;
    }),
  );
  return rowTable(
    words.sums,
    [{ name: what }, ...[here, there, difference].map((name) => ({ name, isNumber: true as const }))],
    rows,
  );
}

const amountOf = (minor: number, currency: string): string =>
  `${minor > 0 ? '+' : '−'}${amountText(Math.abs(minor), currency)}`;

function differenceTable(differences: readonly Difference[]): Html {
  const { kind, object, service, here, there, settled } = words.differenceColumns;
  return rowTable(
    words.differences,
    [kind, object, service, here, there, settled].map((name) => ({ name })),
    differences.map(differenceRow),
  );
}

function differenceRow({
  kind,
  operation,
  token,
  serviceToken,
  currency,
  here,
  there,
  isSettled,
}: Difference): Html {
  const path = operation === 'payment' ? paymentPath : payoutPath;
  const side = (amounts: Difference['here']) =>
    amounts === undefined ? '–' : html`${chip(amounts.status)} ${amount(amounts.amount, currency)}`;
  return html`<tr data-row="">
    <td>${words.kinds[kind] ?? kind}</td>
    <td>
      ${token === undefined ? '–' : html`<a href="${path(token)}"><code>${shortToken(token)}</code></a>`}
    </td>
    <td><code>${serviceToken}</code></td>
    <td>${side(here)}</td>
    <td>${side(there)}</td>
    <td>${isSettled ? words.settled : words.notSettled}</td>
  </tr>`;
}
