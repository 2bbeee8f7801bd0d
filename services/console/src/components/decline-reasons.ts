/** The decline reasons of a list of payments, most frequent first. Each number links to the payments it counts. */
import type { AnswerOf } from '@tollgate/gateway-api/http';
import { type Html, html } from '@tollgate/service-kit';

export function declineReasons(
  query: URLSearchParams,
  { counts }: AnswerOf<'OutcomeCounts'>,
): Html | undefined {
  const reasons = [...Map.groupBy(counts, ({ group }) => group)]
    .map(([reason, of]) => ({ reason, count: of.reduce((sum, { declined }) => sum + declined, 0) }))
    .filter(({ count }) => count > 0)
    .toSorted((one, other) => other.count - one.count);
  if (reasons.length === 0) return undefined;
  const shown = reasons.map(({ reason, count }) => {
    if (reason === undefined) return html`<span class="filter">no reason given <b>${count}</b></span>`;
    const asked = new URLSearchParams(query);
    asked.delete('cursor');
    asked.set('declineReason', reason);
    const current = query.get('declineReason') === reason ? html` aria-current="true"` : undefined;
    return html`<a class="filter" href="/console/payments?${asked.toString()}" ${current}
      >${reason} <b>${count}</b></a
    >`;
  });
  return html`<p class="calm">By reason, last 31 days unless filtered by time: ${shown}</p>`;
}
