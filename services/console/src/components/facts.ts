/** Names and what stands behind them; what is not there is left out. */
import { type Html, html } from '@tollgate/service-kit';

export type Fact = [name: string, value: Html | string | undefined];

export function factList(facts: readonly Fact[]): Html {
  const shown = facts
    .filter(([, value]) => value !== undefined)
    .map(
      ([name, value]) =>
        html`<div>
          <dt>${name}</dt>
          <dd>${value}</dd>
        </div>`,
    );
  return html`<dl class="facts">${shown}</dl>`;
}
