/** The sandbox: a developer controls customer, Payment Service and time, and watches the gateway's reaction. */
import { type Html, html } from '@tollgate/service-kit';
import { mayDo } from '@tollgate/teams';
import type { Api } from '../api.ts';
import { parseAmount, refusedAmountText } from '../components/amount.ts';
import { choice, optionsOf } from '../components/choice.ts';
import { hiddenFields, panel } from '../components/form.ts';
import { errorText, outcomeNotice, shownAt } from '../components/notice.ts';
import { sign } from '../components/state.ts';
import { operationPath } from '../components/token.ts';
import type { Action, Page, PageContext } from '../page.ts';
import { failurePage } from './failure.ts';

/** The controls of a sandbox Payment Service. */
export interface SandboxControls {
  /** Rejects if the sandbox does not answer, or refuses. */
  control(
    method: 'POST' | 'DELETE',
    path: string,
    body?: object | readonly object[],
  ): Promise<Readonly<Record<string, unknown>>>;
}

const clockSteps = { '60': '1 minute', '3600': '1 hour', '86400': '1 day', '604800': '7 days' };
const path = '/console/sandbox';

interface Scenario {
  title: string;
  text: string;
  /** Set before the payment is created. */
  fault?: { operation: string; fault: string; times: number };
  /** The customer's action after the creation. */
  pays?: 'approved' | 'declined';
}

const scenarios: Readonly<Record<string, Scenario>> = {
  approved: { title: 'An approved payment', text: 'The customer pays at once.', pays: 'approved' },
  declined: { title: 'A declined payment', text: 'The card has insufficient funds.', pays: 'declined' },
  waiting: { title: 'A slow customer', text: 'Creates the payment and leaves its page to you.' },
  'lost-callback': {
    title: 'A lost callback',
    text: 'The customer pays, and the Payment Service sends no callback. The schedule finds the payment; “Check now” finds it at once.',
    fault: { operation: 'callback', fault: 'drop', times: 10 },
    pays: 'approved',
  },
  'lost-answer': {
    title: 'A lost answer',
    text: 'The Payment Service creates the payment, and its answer is lost. The customer gets a second page at once; the first is watched.',
    fault: { operation: 'create', fault: 'lost_reply', times: 1 },
  },
  'down-service': {
    title: 'A broken Payment Service',
    text: 'It answers the call with 500, which may have had an effect. The customer gets a second page at once; the first is watched.',
    fault: { operation: 'create', fault: 'error_before', times: 1 },
  },
};

/** The sandbox has one clock and one set of faults for all teams. */
const mayPlay = ({ grants }: Pick<PageContext['session'], 'grants'>): boolean =>
  mayDo(grants, 'operators:act', 'everywhere');

const needsTeam = 'Needs a role that may create payments.';

/** @param sandbox absent with real accounts */
export const sandboxPage =
  (sandbox: SandboxControls | undefined): Page =>
  async (context) => {
    if (sandbox === undefined)
      return failurePage(
        404,
        'Sandbox',
        'No sandbox runs here. `npm start` without an accounts file starts one.',
      );
    const { api, session, outcome } = context;
    const { csrf } = session;
    const { teams } = await api.get<'TeamNames'>('/api/v1/admin/teams');
    const main = html`<h1>Sandbox</h1>
      <p class="calm">
        Play the customer, the Payment Service and time. Each payment that you create opens, and its page
        updates while you watch.
      </p>
      ${outcome === undefined ? undefined : outcomeNotice(outcome)}
      ${!mayPlay(session) ? html`<p class="notice note">${sign('note')} ${needsTeam}</p>` : undefined}
      <form method="post" action="${path}/payments" class="scenes">
        ${hiddenFields({ csrf })}
        <div class="terms">
          ${choice('team', 'Team', '', { options: optionsOf(teams) })}
          <label
            >Amount<input name="amount" value="12.50" inputmode="decimal" maxlength="12" required
          /></label>
          <label
            >Currency<input name="currency" value="EUR" required pattern="[A-Z]{3}" maxlength="3" size="4"
          /></label>
          <label class="check"><input type="checkbox" name="twoSteps" value="true" />Authorize only</label>
        </div>
        <div class="scenarios">${Object.entries(scenarios).map(scenarioButton)}</div>
      </form>
      <p class="calm">
        All other actions of customers, banks and the Payment Service: <code>npm run sandbox -- --help</code>
      </p>
      ${panel('clock', 'The clock of the sandbox', clockForm(csrf))}`;
    return { title: 'Sandbox', main };
  };

const clockForm = (csrf: string): Html =>
  html`<p class="calm">Moves the time of the Payment Service ahead: pages expire, authorizations end.</p>
    <form method="post" action="${path}/clock" class="inline">
      ${hiddenFields({ csrf })} ${choice('seconds', 'By', '', { options: Object.entries(clockSteps) })}
      <button>Move ahead</button>
    </form>`;

const scenarioButton = ([name, { title, text }]: [string, Scenario]): Html =>
  html`<button name="scenario" value="${name}" class="scenario"><b>${title}</b><span>${text}</span></button>`;

const refused = (text: string) => shownAt(path, false, text);

export const playScenario =
  ({ control }: SandboxControls): Action =>
  async (context, form) => {
    const asked = form.get('scenario') ?? '';
    const scenario = Object.hasOwn(scenarios, asked) ? scenarios[asked] : undefined;
    if (scenario === undefined) return refused('Unknown scenario.');
    // Before the fault is set: a reader who may not create payments must not set faults either.
    if (!mayPlay(context.session)) return refused(needsTeam);
    if (scenario.fault !== undefined) await control('POST', 'faults', [scenario.fault]);
    const created = await create(context, form);
    if (created.token === undefined) {
      await control('DELETE', 'faults');
      return refused(created.text);
    }
    if (scenario.pays !== undefined) await pay(context, { control }, created.token, scenario.pays);
    // Clears an unused fault, so that it does not affect other payments.
    if (scenario.fault !== undefined) await control('DELETE', 'faults');
    return { location: operationPath(created.token) };
  };

async function create(
  { api, newKey }: Pick<PageContext, 'api' | 'newKey'>,
  form: URLSearchParams,
): Promise<{ token: string } | { token?: undefined; text: string }> {
  const text = (name: string) => form.get(name) ?? '';
  const currency = text('currency');
  const amount = parseAmount(text('amount'), currency);
  if (amount === undefined) return { text: refusedAmountText(currency) };
  const key = newKey();
  const answer = await api.post<{ token: string }>(
    '/api/v1/payments',
    {
      product: 'Tea for two',
      amount,
      currency,
      orderNumber: `sandbox-${key.slice(-8)}`,
      needConfirmation: text('twoSteps') === 'true',
    },
    { within: { team: text('team'), environment: 'sandbox' }, idempotencyKey: key },
  );
  if (answer.kind === 'answer') return { token: answer.body.token };
  // A failed payment exists nevertheless, and its page is shown.
  return answer.token === undefined ? { text: errorText(answer.errors) } : { token: answer.token };
}

/** Pays like the customer on the page of the Payment Service. */
async function pay(
  { api }: Pick<PageContext, 'api'>,
  { control }: SandboxControls,
  token: string,
  outcome: string,
): Promise<void> {
  const serviceToken = await serviceTokenOf(api, token);
  if (serviceToken !== undefined)
    await control('POST', `payments/${encodeURIComponent(serviceToken)}/pay`, { outcome });
}

/** The Payment Service's token of a payment. */
async function serviceTokenOf(api: Api, token: string): Promise<string | undefined> {
  const { events } = await api.get<'OperatorHistory'>(
    `/api/v1/admin/payments/${encodeURIComponent(token)}/events`,
  );
  const tokens = events.map(({ stored }) => (stored['data'] as { serviceToken?: string }).serviceToken);
  return tokens.findLast((each) => each !== undefined);
}

export const moveClock =
  ({ control }: SandboxControls): Action =>
  async ({ session }, form) => {
    if (!mayPlay(session)) return refused(needsTeam);
    const seconds = form.get('seconds') ?? '';
    if (!Object.hasOwn(clockSteps, seconds)) return refused('Unknown scenario.');
    const { now } = await control('POST', 'clock', { advanceMs: Number(seconds) * 1_000 });
    return shownAt(path, true, `It is now ${String(now)} at the Payment Service.`);
  };
