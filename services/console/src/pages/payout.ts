/** One payout: where the money goes, who asked, and what somebody else decides. */
import { type Html, html } from '@tollgate/service-kit';
import { formatGrants, keyIdOfPerson, mayDo } from '@tollgate/teams';
import { amount, amountText } from '../components/amount.ts';
import { factList, metadataFacts } from '../components/facts.ts';
import { type OpenReview, outcomeSection, refusedOutcome, reviewsNotice } from '../components/notice.ts';
import { chip } from '../components/state.ts';
import { relative, time } from '../components/time.ts';
import { timeline } from '../components/timeline.ts';
import type { TimelineEvent, TimelineWebhook } from '../components/timeline-items.ts';
import { copyable } from '../components/token.ts';
import type { Action, Page, PageContext } from '../page.ts';
import { texts } from '../texts.ts';
import { type ListedPayout, destinationText, payoutPath } from './payouts.ts';
import { replayFormAt } from './webhook-replay.ts';

const words = texts.payouts;

interface Payout extends ListedPayout {
  declineReason?: string;
  errors: readonly { code: string; message?: string }[];
  reviews: readonly OpenReview[];
  metadata?: Readonly<Record<string, string>>;
}

const read = async ({ api, params }: PageContext): Promise<Payout> =>
  (await api.get<{ payout: Payout }>(`/api/v1/admin/payouts/${encodeURIComponent(params['token'] ?? '')}`))
    .payout;

export const payoutPage: Page = async (context) => {
  const { api, outcome } = context;
  const payout = await read(context);
  const { token, currency } = payout;
  const [{ events }, { webhooks }] = await Promise.all([
    api.get<{ events: TimelineEvent[] }>(`/api/v1/admin/payouts/${token}/events`),
    api.get<{ webhooks: TimelineWebhook[] }>(`/api/v1/webhooks?token=${token}`, payout),
  ]);
  const mayReplay = mayDo(context.session.grants, 'payouts', payout);
  const replayForm = mayReplay ? replayFormAt(payoutPath(token), context) : undefined;
  const main = html`<section id="facts" class="payment" data-region="">
      <div class="heading">
        <h1>${amount(payout.amount, currency)}</h1>
        <p>${chip(payout.phase)}</p>
      </div>
      ${reviewsNotice(token, payout.reviews)} ${factsOf(payout)}
    </section>
    ${outcomeSection(outcome)}
    <div id="approval" data-region="">
      ${decisions[payout.phase] === undefined ? undefined : approvalPanel(payout, context)}
    </div>
    <section id="timeline" class="panel" data-region="" aria-labelledby="timeline-title">
      <h2 id="timeline-title">${words.happened}</h2>
      ${timeline({ events, webhooks, disputes: [], currency, replayForm })}
    </section>`;
  const title = `${amountText(payout.amount, currency)} · ${texts.phases[payout.phase] ?? payout.phase}`;
  return { title, main, isLive: true };
};

function factsOf(payout: Payout): Html {
  const { team, environment, token, phase, orderNumber, createdAt, approval, declineReason, errors } = payout;
  const names = texts.payment.facts;
  const failure = errors.map(({ code, message }) => message ?? code).join(' ');
  return factList([
    [names.team, team],
    [names.environment, environment],
    [words.columns.destination, destinationText(payout.destination)],
    [names.order, orderNumber],
    [names.token, copyable(token)],
    [names.created, time(createdAt)],
    [words.askedBy, approval && html`<code>${approval.askedBy}</code>`],
    [words.grantedBy, approval?.grantedBy],
    [words.lapses, approval && decisions[phase] && relative(approval.lapsesAt)],
    [words.declined, declineReason],
    [words.failed, failure === '' ? undefined : failure],
    ...metadataFacts(payout.metadata),
  ]);
}

/** What somebody may decide, until it is sent. */
const decisions: Partial<Record<string, readonly ('approve' | 'refuse')[]>> = {
  awaiting_approval: ['approve', 'refuse'],
  approval_granted: ['refuse'],
};

function approvalPanel(payout: Payout, { session }: PageContext): Html {
  const { grants } = session;
  return html`<section class="panel" aria-labelledby="approval-title">
    <h2 id="approval-title">${words.approval}</h2>
    ${mayDo(grants, 'approvals', payout) ? decisionOf(payout, session) : html`<p class="calm">${words.notYours(formatGrants(grants))}</p>`}
  </section>`;
}

/** Who asked for the payout may not decide on it; the API refuses it, too. */
function decisionOf(payout: Payout, { person, csrf }: PageContext['session']): Html {
  const { token, currency, approval, destination } = payout;
  if (approval?.askedBy === keyIdOfPerson(person)) return html`<p class="calm">${words.own}</p>`;
  const sum = amountText(payout.amount, currency);
  const { approve, refuse } = words;
  const hidden = html`<input type="hidden" name="csrf" value="${csrf}" />`;
  const forms = {
    approve: html`<details class="action" name="action">
      <summary>${approve.name}</summary>
      <form method="post" action="${payoutPath(token)}/approve">
        <p>${approve.says(sum, destinationText(destination))}</p>
        ${hidden}
        <button class="strong grave">${approve.does(sum)}</button>
      </form>
    </details>`,
    refuse: html`<details class="action" name="action">
      <summary>${refuse.name}</summary>
      <form method="post" action="${payoutPath(token)}/refuse">
        <p>${refuse.says(sum)}</p>
        <label>${refuse.reason}<textarea name="reason" required maxlength="1000" rows="3"></textarea></label>
        ${hidden}
        <button class="strong grave">${refuse.does}</button>
      </form>
    </details>`,
  };
  return html`<div class="actions">${decisions[payout.phase]?.map((decision) => forms[decision])}</div>`;
}

export const decidePayout =
  (decision: 'approve' | 'refuse'): Action =>
  async (context, form) => {
    const payout = await read(context);
    const answer = await context.api.call({
      method: 'POST',
      path: `/api/v1/payouts/${payout.token}/${decision}`,
      within: payout,
      body: decision === 'refuse' ? { reason: form.get('reason') ?? '' } : {},
    });
    const location = payoutPath(payout.token);
    if (answer.kind === 'answer') {
      return { location, outcome: { isDone: true, text: words[decision].done } };
    }
    return { location, outcome: refusedOutcome(answer) };
  };
