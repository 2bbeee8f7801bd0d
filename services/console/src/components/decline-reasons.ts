/** Why the payments of a list were declined, most frequent first: each number leads to what it counts. */
import { type Html, html } from '@tollgate/service-kit';
import { texts } from '../texts.ts';

const words = texts.payments;

/** As the API counts them. */
export interface DeclineCounts {
  reasons: readonly { reason?: string; count: number }[];
  isPartial: boolean;
}

export function declineReasons(
  query: URLSearchParams,
  { reasons, isPartial }: DeclineCounts,
): Html | undefined {
  if (reasons.length === 0) return undefined;
  const shown = reasons.map(({ reason, count }) => {
    if (reason === undefined)
      return html`<span class="filter">${words.declineUnnamed} <b>${count}</b></span>`;
    const asked = new URLSearchParams(query);
    asked.delete('cursor');
    asked.set('declineReason', reason);
    const current = query.get('declineReason') === reason ? html` aria-current="true"` : undefined;
    return html`<a class="filter" href="/console/payments?${asked.toString()}" ${current}
      >${reason} <b>${count}</b></a
    >`;
  });
  return html`<p class="calm">
    ${words.declines} ${shown} ${isPartial ? words.declinesPartial : undefined}
  </p>`;
}
