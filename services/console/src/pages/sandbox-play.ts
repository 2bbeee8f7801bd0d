/** Sandbox controls on a payment's page: actions of customers, banks and operators of the Payment Service. */
import { errorCode, type Html, html } from '@tollgate/service-kit';
import type { Api } from '../api.ts';
import { mayAct } from '../components/actions.ts';
import { type ListedPayment, paymentPath } from '../components/payment-list.ts';
import type { Action, PageContext } from '../page.ts';
import { texts } from '../texts.ts';
import type { SandboxControls } from './sandbox.ts';

const words = texts.sandbox.play;

const environment = 'sandbox';

type PlayedPayment = Pick<ListedPayment, 'token' | 'team' | 'environment' | 'phase' | 'amount'>;

type Play = 'pay' | 'decline' | 'revise' | 'dispute';

interface Control {
  /** Phases in which the control makes sense. */
  phases: readonly string[];
  path(serviceToken: string): string;
  body(payment: PlayedPayment, serviceToken: string): object;
}

const open = ['init', 'pending'];
const controls: Readonly<Record<Play, Control>> = {
  pay: {
    phases: open,
    path: (token) => `payments/${token}/pay`,
    body: () => ({ outcome: 'approved' }),
  },
  decline: {
    phases: open,
    path: (token) => `payments/${token}/pay`,
    body: () => ({ outcome: 'declined' }),
  },
  revise: {
    phases: ['approved', 'declined'],
    path: (token) => `payments/${token}/revise`,
    body: ({ phase }) => ({ status: phase === 'approved' ? 'declined' : 'approved' }),
  },
  dispute: {
    phases: ['approved'],
    path: () => 'disputes',
    body: ({ amount }, token) => ({ token, amount, reasonCode: 'fraud' }),
  },
};

/** Undefined if no control applies. */
export function playPanel(
  payment: PlayedPayment,
  { session, hasSandbox }: Pick<PageContext, 'session' | 'hasSandbox'>,
): Html | undefined {
  if (!hasSandbox || payment.environment !== environment || !mayAct(session, payment)) return undefined;
  const buttons = Object.entries(controls)
    .filter(([, { phases }]) => phases.includes(payment.phase))
    .map(([name]) => html`<button name="play" value="${name}">${words[name as Play]}</button>`);
  if (buttons.length === 0) return undefined;
  return html`<section class="panel" aria-labelledby="play-title">
    <h2 id="play-title">${words.title}</h2>
    <p class="calm">${words.intro}</p>
    <form method="post" action="${paymentPath(payment.token)}/play" class="inline">
      <input type="hidden" name="csrf" value="${session.csrf}" />
      ${buttons}
    </form>
  </section>`;
}

export const playPayment =
  ({ control }: SandboxControls): Action =>
  async ({ api, params, session }, form) => {
    const token = params['token'] ?? '';
    const location = paymentPath(token);
    const outcome = (isDone: boolean, text: string) => ({ location, outcome: { isDone, text } });
    const { payment } = await api.get<'OperatorPayment'>(
      `/api/v1/admin/payments/${encodeURIComponent(token)}`,
    );
    if (!mayAct(session, payment)) return outcome(false, texts.sandbox.needsTeam);
    const play = form.get('play') ?? '';
    const known = Object.hasOwn(controls, play) ? controls[play as Play] : undefined;
    const serviceToken = await serviceTokenOf(api, payment.token);
    const isThere = payment.environment === environment && serviceToken !== undefined;
    if (known?.phases.includes(payment.phase) !== true || !isThere) return outcome(false, words.refused);
    const isDone = await control(
      'POST',
      known.path(encodeURIComponent(serviceToken)),
      known.body(payment, serviceToken),
    ).then(() => true, isRefused);
    return outcome(isDone, isDone ? words.done : words.refused);
  };

/** It may have changed at the sandbox meanwhile. */
function isRefused(error: unknown): false {
  if (errorCode(error) !== 'sandbox_refused') throw error;
  return false;
}

/** The Payment Service's token of a payment. */
export async function serviceTokenOf(api: Api, token: string): Promise<string | undefined> {
  const { events } = await api.get<'OperatorHistory'>(
    `/api/v1/admin/payments/${encodeURIComponent(token)}/events`,
  );
  const tokens = events.map(({ stored }) => (stored['data'] as { serviceToken?: string }).serviceToken);
  return tokens.findLast((each) => each !== undefined);
}
