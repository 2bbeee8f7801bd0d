/** The merchant accounts: whose fault it is, who gets which share, and what is left there. */
import { type Html, html } from '@tollgate/service-kit';
import { amount } from '../components/amount.ts';
import { factList } from '../components/facts.ts';
import { errorText, outcomeNotice } from '../components/notice.ts';
import { sign } from '../components/state.ts';
import { rowTable } from '../components/table.ts';
import { relative } from '../components/time.ts';
import type { Page, PageContext } from '../page.ts';
import { texts } from '../texts.ts';

const words = texts.accounts;
const path = '/console/accounts';

/** As the API lists it. */
interface Account {
  environment: string;
  account: string;
  circuit: 'closed' | 'open' | 'half-open';
  callsUnderWay: number;
  waiting: number;
  weight: number;
  priority: number;
  callsPerSecondMax: number;
  concurrentCallsMax: number;
  inquiriesPerSecondMax: number;
  totalPerSecondMax?: number;
  currencies?: readonly string[];
  teams?: readonly string[];
  oldestDueAt?: string;
}

export const accountsPage: Page = async (context) => {
  const { accounts } = await context.api.get<{ accounts: Account[] }>('/api/v1/admin/accounts');
  const asked = context.query.get('balance');
  const main = html`<h1>${words.title}</h1>
    <p class="calm">${words.intro}</p>
    <section id="accounts" data-region="">
      ${accounts.length === 0 ? html`<p class="empty">${words.empty}</p>` : tableOf(accounts)}
    </section>
    <section id="balance" aria-labelledby="balance-title">
      <h2 id="balance-title">${words.balance.title}</h2>
      ${balanceForm(accounts, context.query)} ${asked === null ? undefined : await balanceOf(asked, context)}
    </section>`;
  // Whoever has asked for a balance has it once, and the Payment Service is not asked each second.
  return { title: words.title, main, isLive: asked === null };
};

const inTrouble = { open: 0, 'half-open': 1, closed: 2 };
const tones = { closed: 'good', open: 'bad', 'half-open': 'note' };

function tableOf(accounts: readonly Account[]): Html {
  const { columns } = words;
  const sorted = accounts.toSorted((one, other) => inTrouble[one.circuit] - inTrouble[other.circuit]);
  return rowTable(
    words.title,
    [
      { name: columns.account },
      { name: columns.circuit },
      { name: columns.oldestDue },
      { name: columns.share, isNumber: true },
      { name: columns.concurrent, isNumber: true },
      { name: columns.waiting, isNumber: true },
      { name: columns.calls, isNumber: true },
      { name: columns.inquiries, isNumber: true, isSecond: true },
      { name: columns.serves, isSecond: true },
    ],
    sorted.map((account) => rowOf(account, accounts)),
  );
}

function rowOf(account: Account, all: readonly Account[]): Html {
  const { environment, circuit, callsUnderWay, concurrentCallsMax, waiting, oldestDueAt } = account;
  const { callsPerSecondMax, inquiriesPerSecondMax, totalPerSecondMax, currencies, teams } = account;
  const payments = `/console/payments?${new URLSearchParams({ account: account.account, environment }).toString()}`;
  const served = [teams?.join(' ') ?? words.everybody, currencies?.join(' ') ?? words.everyCurrency].join(
    ', ',
  );
  return html`<tr data-row="">
    <td>
      <a href="${payments}">${account.account}</a>
      <small class="${environment === 'production' ? 'production' : 'calm'}">${environment}</small>
    </td>
    <td>
      <span class="chip ${tones[circuit]}">${sign(tones[circuit])}${texts.overview.circuits[circuit]}</span>
    </td>
    <td>${oldestDueAt === undefined ? words.nothingDue : relative(oldestDueAt)}</td>
    <td class="number">${shareOf(account, all)}</td>
    <td class="number">${words.ofMost(callsUnderWay, concurrentCallsMax)}</td>
    <td class="number">${waiting}</td>
    <td class="number">
      ${callsPerSecondMax}${totalPerSecondMax === undefined ? undefined : html` <small class="calm">${words.withInquiries(totalPerSecondMax)}</small>`}
    </td>
    <td class="number second">${inquiriesPerSecondMax}</td>
    <td class="text second" title="${served}">${served}</td>
  </tr>`;
}

/** Among those of its priority that may take the same payments, roughly: teams and currencies are not looked at. */
function shareOf({ environment, priority, weight }: Account, all: readonly Account[]): string {
  const rivals = all.filter((each) => each.environment === environment && each.priority === priority);
  const sum = rivals.reduce((total, each) => total + each.weight, 0);
  return words.share(`${((100 * weight) / sum).toFixed(weight === sum ? 0 : 1)} %`, priority);
}

function balanceForm(accounts: readonly Account[], query: URLSearchParams): Html {
  const { account, currency, does } = words.balance;
  const options = accounts.map((each) => {
    const value = `${each.environment}/${each.account}`;
    const selected = value === query.get('balance') ? html` selected` : undefined;
    return html`<option value="${value}" ${selected}>${each.account} (${each.environment})</option>`;
  });
  return html`<form class="inline" action="${path}">
    <label
      >${account}<select name="balance" required>
        ${options}
      </select></label
    >
    <label
      >${currency}<input
        name="currency"
        value="${query.get('currency') ?? 'EUR'}"
        required
        pattern="[A-Z]{3}"
        maxlength="3"
        size="4"
        autocomplete="off"
    /></label>
    <button>${does}</button>
  </form>`;
}

interface Balance {
  currency: string;
  available: number;
  hold: number;
}

async function balanceOf(asked: string, { api, query }: PageContext): Promise<Html> {
  const [environment = '', account = ''] = asked.split('/', 2).map(encodeURIComponent);
  const currency = new URLSearchParams({ currency: query.get('currency') ?? '' }).toString();
  const answer = await api.call<{ wallet: Balance }>({
    path: `/api/v1/admin/accounts/${environment}/${account}/balance?${currency}`,
  });
  if (answer.kind === 'refused') {
    const { errors, requestId } = answer;
    return outcomeNotice({ isDone: false, text: errorText(errors), requestId });
  }
  const { wallet } = answer.body;
  return factList([
    [words.balance.of, asked.split('/', 2)[1]],
    [words.balance.available, amount(wallet.available, wallet.currency)],
    [words.balance.hold, amount(wallet.hold, wallet.currency)],
  ]);
}
