/** Names and values; missing values are omitted. */
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

/**
 * The team's metadata of an operation. @param path a list's path: each value links to operations with the same value
 */
export const metadataFacts = (metadata: Readonly<Record<string, string>> = {}, path?: string): Fact[] =>
  Object.entries(metadata).map(([name, text]) => {
    const same = new URLSearchParams({ [`metadata[${name}]`]: text }).toString();
    const shown = path === undefined ? text : html`<a href="${path}?${same}">${text}</a>`;
    return [`Metadata ${name}`, shown];
  });

/** For example `Provider order number`. */
export function labelOf(name: string): string {
  const words = name.replaceAll(/([A-Z])/g, ' $1').toLowerCase();
  return `${words.slice(0, 1).toUpperCase()}${words.slice(1)}`;
}
