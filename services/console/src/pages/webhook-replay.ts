/** Resends a webhook of one payment or payout from its timeline, to the original address. */
import { type Html, html } from '@tollgate/service-kit';
import { answered } from '../components/notice.ts';
import type { TimelineWebhook } from '../components/timeline-items.ts';
import type { Action, PageContext } from '../page.ts';

/** @param path page of the webhook's subject */
export const replayFormAt =
  (path: string, { session }: Pick<PageContext, 'session'>) =>
  ({ id, url }: TimelineWebhook): Html =>
    html`<form method="post" action="${path}/webhooks">
      <input type="hidden" name="csrf" value="${session.csrf}" />
      <input type="hidden" name="id" value="${id}" />
      <button class="small" title="Sends it to ${url} again, with the same id.">Resend</button>
    </form>`;

export const replayWebhookOf =
  (kind: 'payment' | 'payout'): Action =>
  async ({ api, params }, form) => {
    const token = encodeURIComponent(params['token'] ?? '');
    const path = `/api/v1/admin/${kind}s/${token}`;
    const owner =
      kind === 'payment'
        ? (await api.get<'OperatorPayment'>(path)).payment
        : (await api.get<'OperatorPayout'>(path)).payout;
    const body = { token: params['token'] ?? '', id: form.get('id') ?? '' };
    const answer = await api.post('/api/v1/webhooks/replay', body, { within: owner });
    return answered(answer, `/console/${kind}s/${token}`, 'Sent again. The outcome appears in a moment.');
  };
