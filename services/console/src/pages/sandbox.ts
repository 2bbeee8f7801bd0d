/** The sandbox: a developer controls customer, Payment Service and time, and watches the gateway's reaction. */
import { type Html, html } from '@tollgate/service-kit';
import { amountExample, parseAmount } from '../components/amount.ts';
import { choice } from '../components/choice.ts';
import { errorText, outcomeNotice } from '../components/notice.ts';
import { paymentPath } from '../components/payment-list.ts';
import { sign } from '../components/state.ts';
import type { Action, Page, PageContext } from '../page.ts';
import { texts } from '../texts.ts';
import { failurePage } from './failure.ts';
import { faultPanel, mayPlay } from './sandbox-faults.ts';
import { serviceTokenOf } from './sandbox-play.ts';

/** The controls of a sandbox Payment Service. */
export interface SandboxControls {
  /** Rejects if the sandbox does not answer, or refuses. */
  control(
    method: 'GET' | 'POST' | 'DELETE',
    path: string,
    body?: object | readonly object[],
  ): Promise<Readonly<Record<string, unknown>>>;
}

const words = texts.sandbox;
const environment = 'sandbox';

interface Scenario {
  /** Set before the payment is created. */
  fault?: { operation: string; fault: string; times: number };
  /** The customer's action after the creation. */
  pays?: 'approved' | 'declined';
}

const scenarios: ReadonlyMap<string, Scenario> = new Map(
  Object.entries<Scenario>({
    approved: { pays: 'approved' },
    declined: { pays: 'declined' },
    waiting: {},
    'lost-callback': { fault: { operation: 'callback', fault: 'drop', times: 10 }, pays: 'approved' },
    'lost-answer': { fault: { operation: 'create', fault: 'lost_reply', times: 1 } },
    'down-service': { fault: { operation: 'create', fault: 'error_before', times: 1 } },
  }),
);

/** @param sandbox absent with real accounts */
export const sandboxPage =
  (sandbox: SandboxControls | undefined): Page =>
  async (context) => {
    if (sandbox === undefined) return failurePage(404, words.title, words.none);
    const { api, session, outcome } = context;
    const { teams } = await api.get<'TeamNames'>('/api/v1/admin/teams');
    const faults = await faultPanel(sandbox, context);
    const main = html`<h1>${words.title}</h1>
      <p class="calm">${words.intro}</p>
      ${outcome === undefined ? undefined : outcomeNotice(outcome)}
      ${!mayPlay(session) ? html`<p class="notice note">${sign('note')} ${words.needsTeam}</p>` : undefined}
      <form method="post" action="/console/sandbox/payments" class="scenes">
        <input type="hidden" name="csrf" value="${session.csrf}" />
        <div class="terms">
          ${choice('team', words.team, '', { options: teams.map((team) => [team, team]) })}
          <label
            >${words.amount}<input name="amount" value="12.50" inputmode="decimal" maxlength="12" required
          /></label>
          <label
            >${words.currency}<input name="currency" value="EUR" maxlength="3" pattern="[A-Z]{3}" required
          /></label>
          <label class="check"><input type="checkbox" name="twoSteps" value="true" />${words.twoSteps}</label>
        </div>
        <div class="scenarios">${Object.entries(words.scenarios).map(scenarioButton)}</div>
      </form>
      <section class="panel" aria-labelledby="clock-title">
        <h2 id="clock-title">${words.clock}</h2>
        <p class="calm">${words.clockText}</p>
        <form method="post" action="/console/sandbox/clock" class="inline">
          <input type="hidden" name="csrf" value="${session.csrf}" />
          ${choice('seconds', words.clockBySome, '', { options: Object.entries(words.clockBy) })}
          <button>${words.clockDoes}</button>
        </form>
      </section>
      ${faults}`;
    return { title: words.title, main };
  };

const scenarioButton = ([name, [title, text]]: [string, readonly [string, string]]): Html =>
  html`<button name="scenario" value="${name}" class="scenario"><b>${title}</b><span>${text}</span></button>`;

const refusedAt = (text: string) => ({ location: '/console/sandbox', outcome: { isDone: false, text } });

export const playScenario =
  ({ control }: SandboxControls): Action =>
  async (context, form) => {
    const scenario = scenarios.get(form.get('scenario') ?? '');
    if (scenario === undefined) return refusedAt(words.noSuchFault);
    // Before the fault is set: a reader who may not create payments must not set faults either.
    if (!mayPlay(context.session)) return refusedAt(words.needsTeam);
    if (scenario.fault !== undefined) await control('POST', 'faults', [scenario.fault]);
    const created = await create(context, form);
    if (created.token === undefined) {
      await control('DELETE', 'faults');
      return refusedAt(created.text);
    }
    if (scenario.pays !== undefined) await pay(context, { control }, created.token, scenario.pays);
    // Clears an unused fault, so that it does not affect other payments.
    if (scenario.fault !== undefined) await control('DELETE', 'faults');
    return { location: paymentPath(created.token) };
  };

async function create(
  { api, newKey }: Pick<PageContext, 'api' | 'newKey'>,
  form: URLSearchParams,
): Promise<{ token: string } | { token?: undefined; text: string }> {
  const text = (name: string) => form.get(name) ?? '';
  const currency = text('currency');
  const amount = parseAmount(text('amount'), currency);
  if (amount === undefined) return { text: texts.outcomes.refusedAmount(currency, amountExample(currency)) };
  const key = newKey();
  const answer = await api.call<{ token: string }>({
    method: 'POST',
    path: '/api/v1/payments',
    within: { team: text('team'), environment },
    idempotencyKey: key,
    body: {
      product: words.product,
      amount,
      currency,
      orderNumber: `sandbox-${key.slice(-8)}`,
      needConfirmation: text('twoSteps') === 'true',
    },
  });
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

export const moveClock =
  ({ control }: SandboxControls): Action =>
  async ({ session }, form) => {
    if (!mayPlay(session)) return refusedAt(words.needsTeam);
    const seconds = form.get('seconds') ?? '';
    if (!Object.hasOwn(words.clockBy, seconds)) return refusedAt(words.noSuchFault);
    const { now } = await control('POST', 'clock', { advanceMs: Number(seconds) * 1_000 });
    return { location: '/console/sandbox', outcome: { isDone: true, text: words.clockMoved(String(now)) } };
  };
