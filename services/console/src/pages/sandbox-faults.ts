/** The sandbox's faults: the active ones, and all available ones. */
import { type Html, html } from '@tollgate/service-kit';
import { mayDo } from '@tollgate/teams';
import type { Action, PageContext } from '../page.ts';
import { texts } from '../texts.ts';
import type { SandboxControls } from './sandbox.ts';

/** The sandbox has one clock and one set of faults for all teams. */
export const mayPlay = ({ grants }: Pick<PageContext['session'], 'grants'>): boolean =>
  mayDo(grants, 'operators:act', 'everywhere');

const words = texts.sandbox;
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
  operation === 'callback' ? words.faultsOfCallbacks : words.faultsOfAnswers;

export async function faultPanel(
  { control }: SandboxControls,
  { session: { csrf } }: Pick<PageContext, 'session'>,
): Promise<Html> {
  const faults = ((await control('GET', 'faults'))['faults'] ?? []) as readonly SetFault[];
  const hidden = html`<input type="hidden" name="csrf" value="${csrf}" />`;
  return html`<section class="panel" aria-labelledby="faults-title">
    <h2 id="faults-title">${words.faults}</h2>
    <p class="calm">${words.faultsText}</p>
    <form method="post" action="${path}/faults/set" class="inline">
      ${hidden}
      <label
        >${words.faultWhat}<select name="fault">
          ${Object.keys(words.faultOperations).map(optionsOf)}
        </select></label
      >
      <label
        >${words.faultCount}<input
          name="times"
          value="1"
          inputmode="numeric"
          pattern="[1-9][0-9]{0,3}"
          maxlength="4"
      /></label>
      <button>${words.faultSets}</button>
    </form>
    ${faults.length === 0 ? html`<p class="calm">${words.faultsNone}</p>` : setFaults(faults, hidden)}
  </section>`;
}

const optionsOf = (operation: string): Html =>
  html`<optgroup label="${words.faultOperations[operation]}">
    ${Object.entries(faultsOf(operation)).map(
      ([fault, text]) => html`<option value="${operation} ${fault}">${nameOf(operation)}: ${text}</option>`,
    )}
  </optgroup>`;

const nameOf = (operation: string): string => words.faultOperations[operation] ?? operation;

function setFaults(faults: readonly SetFault[], hidden: Html): Html {
  const shown = faults.map(({ operation, fault, times }) => {
    const often = times === undefined ? words.faultEver : words.faultTimes(times);
    return html`<li>${words.faultOf(nameOf(operation), faultsOf(operation)[fault] ?? fault, often)}</li>`;
  });
  return html`<ul id="faults-set">
      ${shown}
    </ul>
    <form method="post" action="${path}/faults">${hidden}<button>${words.clear}</button></form>`;
}

const outcome = (isDone: boolean, text: string) => ({ location: path, outcome: { isDone, text } });

export const setFault =
  ({ control }: SandboxControls): Action =>
  async ({ session }, form) => {
    if (!mayPlay(session)) return outcome(false, words.needsTeam);
    const [operation = '', fault = ''] = (form.get('fault') ?? '').split(' ');
    const times = form.get('times') ?? '';
    const isKnown =
      Object.hasOwn(words.faultOperations, operation) && Object.hasOwn(faultsOf(operation), fault);
    if (!isKnown || !timesPattern.test(times)) return outcome(false, words.noSuchFault);
    await control('POST', 'faults', [
      { operation, fault, ...(times === '' ? {} : { times: Number(times) }) },
    ]);
    return outcome(true, words.faultSet);
  };

export const clearFaults =
  ({ control }: SandboxControls): Action =>
  async ({ session }) => {
    if (!mayPlay(session)) return outcome(false, words.needsTeam);
    await control('DELETE', 'faults');
    return outcome(true, words.faultsCleared);
  };
