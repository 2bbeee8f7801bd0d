/** Sandbox controls on a payment's page: actions of customers, banks and operators of the Payment Service. */
import { errorCode, type Html, html } from '@tollgate/service-kit';
import { mayDo } from '@tollgate/teams';
import type { Api } from '../api.ts';
import { mayAct } from '../components/actions.ts';
import { shownAt } from '../components/notice.ts';
import { hiddenFields, panel } from '../components/form.ts';
import type { ListedPayment } from '../components/payment-list.ts';
import { operationPath } from '../components/token.ts';
import type { Action, PageContext } from '../page.ts';
import type { SandboxControls } from './sandbox.ts';

const environment = 'sandbox';

/** The sandbox has one clock and one set of faults for all teams. */
export const mayPlay = ({ grants }: Pick<PageContext['session'], 'grants'>): boolean =>
  mayDo(grants, 'operators:act', 'everywhere');

export const needsTeam = 'Needs a role that may create payments.';

type PlayedPayment = Pick<ListedPayment, 'token' | 'team' | 'environment' | 'phase' | 'amount'>;

type Play = 'pay' | 'decline' | 'revise' | 'dispute';

interface Control {
  label: string;
  /** Phases in which the control makes sense. */
  phases: readonly string[];
  path(serviceToken: string): string;
  body(payment: PlayedPayment, serviceToken: string): object;
}

const open = ['init', 'pending'];
const controls: Readonly<Record<Play, Control>> = {
  pay: {
    label: 'The customer pays',
    phases: open,
    path: (token) => `payments/${token}/pay`,
    body: () => ({ outcome: 'approved' }),
  },
  decline: {
    label: 'The card is declined',
    phases: open,
    path: (token) => `payments/${token}/pay`,
    body: () => ({ outcome: 'declined' }),
  },
  revise: {
    label: 'The Payment Service revises the status',
    phases: ['approved', 'declined'],
    path: (token) => `payments/${token}/revise`,
    body: ({ phase }) => ({ status: phase === 'approved' ? 'declined' : 'approved' }),
  },
  dispute: {
    label: 'The customer disputes it',
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
    .map(([name, { label }]) => html`<button name="play" value="${name}">${label}</button>`);
  if (buttons.length === 0) return undefined;
  return panel(
    'other-side',
    'Play the other side',
    html`<p class="calm">
        This is the sandbox. Each button acts as the customer, the bank or the Payment Service.
      </p>
      <form method="post" action="${operationPath(payment.token)}/play" class="inline">
        ${hiddenFields({ csrf: session.csrf })} ${buttons}
      </form>`,
    false,
  );
}

export const playPayment =
  ({ control }: SandboxControls): Action =>
  async ({ api, params, session }, form) => {
    const token = params['token'] ?? '';
    const location = operationPath(token);
    const outcome = (isDone: boolean, text: string) => shownAt(location, isDone, text);
    const { payment } = await api.get<'OperatorPayment'>(
      `/api/v1/admin/payments/${encodeURIComponent(token)}`,
    );
    if (!mayAct(session, payment)) return outcome(false, needsTeam);
    const play = form.get('play') ?? '';
    const known = Object.hasOwn(controls, play) ? controls[play as Play] : undefined;
    const serviceToken = await serviceTokenOf(api, payment.token);
    const isThere = payment.environment === environment && serviceToken !== undefined;
    if (known?.phases.includes(payment.phase) !== true || !isThere) return outcome(false, refusedText);
    const isDone = await control(
      'POST',
      known.path(encodeURIComponent(serviceToken)),
      known.body(payment, serviceToken),
    ).then(() => true, isRefused);
    return outcome(
      isDone,
      isDone ? 'Done at the Payment Service. Watch how the gateway handles it.' : refusedText,
    );
  };

const refusedText = 'The Payment Service does not allow this now. Nothing was done.';

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
