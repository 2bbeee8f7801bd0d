/** A selection of one option in a form. */
import { type Html, html } from '@tollgate/service-kit';

export function choice(
  name: string,
  label: string,
  chosen: string,
  { any, options }: { any?: string; options: readonly (readonly [value: string, text: string])[] },
): Html {
  const shown = options.map(([value, text]) => {
    const selected = value === chosen ? html` selected` : undefined;
    return html`<option value="${value}" ${selected}>${text}</option>`;
  });
  return html`<label
    >${label}<select name="${name}">
      ${any === undefined ? undefined : html`<option value="">${any}</option>`} ${shown}
    </select></label
  >`;
}

/** Each value is its own text. */
export const optionsOf = (values: readonly string[]) => values.map((value) => [value, value] as const);

/** For a selection of a merchant account: `environment/account`. */
export const accountOptions = (
  accounts: readonly { environment: string; account: string }[],
): [value: string, text: string][] =>
  accounts.map(({ environment, account }) => [`${environment}/${account}`, `${account} (${environment})`]);
