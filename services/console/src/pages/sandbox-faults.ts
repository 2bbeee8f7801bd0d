/** The sandbox's faults: the active ones, and all available ones. */
import { type Html, html } from '@tollgate/service-kit';
import { mayDo } from '@tollgate/teams';
import { shownAt } from '../components/notice.ts';
import type { Action, PageContext } from '../page.ts';
import type { SandboxControls } from './sandbox.ts';

/** The sandbox has one clock and one set of faults for all teams. */
export const mayPlay = ({ grants }: Pick<PageContext['session'], 'grants'>): boolean =>
  mayDo(grants, 'operators:act', 'everywhere');

export const needsTeam = 'Needs a role that may create payments.';

const operationNames: Readonly<Record<string, string>> = {
  create: 'creation',
  confirm: 'capture',
  decline: 'void',
  refund: 'refund',
  payout: 'payout',
  get: 'inquiry of a payment',
  list: 'list of payments',
  balance: 'balance',
  disputes: 'disputes',
  callback: 'callback',
};

const faultsOfAnswers: Readonly<Record<string, string>> = {
  lost_reply: 'done, and the answer is lost',
  error_before: '500, and nothing is done',
  error_after: '500, and it is done',
  slow_reply: 'done, and answered after 5 s',
  html_502: 'done, and a proxy answers 502',
  truncated_json: 'done, and half of the answer arrives',
  rate_limited: '429, and nothing is done',
};

const faultsOfCallbacks: Readonly<Record<string, string>> = {
  drop: 'never arrives',
  duplicate: 'arrives twice',
  delay: 'arrives 5 s late',
  reorder: 'arrives after later ones',
  before_reply: 'arrives before the answer to the creation',
};
const path = '/console/sandbox';
/** As allowed by the sandbox. */
const timesPattern = /^([1-9]\d{0,3})?$/;

/** As listed by the sandbox. */
interface SetFault {
  operation: string;
  fault: string;
  times?: number;
}

const faultsOf = (operation: string): Readonly<Record<string, string>> =>
  operation === 'callback' ? faultsOfCallbacks : faultsOfAnswers;

export async function faultPanel(
  { control }: SandboxControls,
  { session: { csrf } }: Pick<PageContext, 'session'>,
): Promise<Html> {
  const faults = ((await control('GET', 'faults'))['faults'] ?? []) as readonly SetFault[];
  const hidden = html`<input type="hidden" name="csrf" value="${csrf}" />`;
  return html`<section class="panel" aria-labelledby="faults-title">
    <h2 id="faults-title">Faults</h2>
    <p class="calm">
      A fault affects the next calls or callbacks of its kind. Set one, then create, capture, void or refund a
      payment, and watch how the gateway handles it.
    </p>
    <form method="post" action="${path}/faults/set" class="inline">
      ${hidden}
      <label
        >What goes wrong<select name="fault">
          ${Object.keys(operationNames).map(optionsOf)}
        </select></label
      >
      <label
        >How often (empty: until it is removed)<input
          name="times"
          value="1"
          inputmode="numeric"
          pattern="[1-9][0-9]{0,3}"
          maxlength="4"
      /></label>
      <button>Set the fault</button>
    </form>
    ${faults.length === 0 ? html`<p class="calm">No fault is set.</p>` : setFaults(faults, hidden)}
  </section>`;
}

const optionsOf = (operation: string): Html =>
  html`<optgroup label="${operationNames[operation]}">
    ${Object.entries(faultsOf(operation)).map(
      ([fault, text]) => html`<option value="${operation} ${fault}">${nameOf(operation)}: ${text}</option>`,
    )}
  </optgroup>`;

const nameOf = (operation: string): string => operationNames[operation] ?? operation;

function setFaults(faults: readonly SetFault[], hidden: Html): Html {
  const shown = faults.map(({ operation, fault, times }) => {
    const often =
      times === undefined ? 'until it is removed' : times === 1 ? 'once more' : `${times} times more`;
    return html`<li>${nameOf(operation)}: ${faultsOf(operation)[fault] ?? fault}, ${often}</li>`;
  });
  return html`<ul id="faults-set">
      ${shown}
    </ul>
    <form method="post" action="${path}/faults">${hidden}<button>Remove all faults</button></form>`;
}

const outcome = (isDone: boolean, text: string) => shownAt(path, isDone, text);

export const setFault =
  ({ control }: SandboxControls): Action =>
  async ({ session }, form) => {
    if (!mayPlay(session)) return outcome(false, needsTeam);
    const [operation = '', fault = ''] = (form.get('fault') ?? '').split(' ');
    const times = form.get('times') ?? '';
    const isKnown = Object.hasOwn(operationNames, operation) && Object.hasOwn(faultsOf(operation), fault);
    if (!isKnown || !timesPattern.test(times)) return outcome(false, 'Unknown scenario.');
    await control('POST', 'faults', [
      { operation, fault, ...(times === '' ? {} : { times: Number(times) }) },
    ]);
    return outcome(true, 'The fault is set.');
  };

export const clearFaults =
  ({ control }: SandboxControls): Action =>
  async ({ session }) => {
    if (!mayPlay(session)) return outcome(false, needsTeam);
    await control('DELETE', 'faults');
    return outcome(true, 'No faults are active.');
  };
