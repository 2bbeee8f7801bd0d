/** One payout: destination, requester, approval and timeline. */
import { type Html, html } from '@tollgate/service-kit';
import { formatGrants, keyIdOfPerson, mayDo } from '@tollgate/teams';
import { actionRow } from '../components/actions.ts';
import { amount, amountText } from '../components/amount.ts';
import { openRefusal } from '../components/event-reason.ts';
import { factList, metadataFacts } from '../components/facts.ts';
import { answered, outcomeSection, refusedOutcome, reviewsNotice } from '../components/notice.ts';
import { chip, phaseName, sign } from '../components/state.ts';
import { relative, time } from '../components/time.ts';
import { timeline } from '../components/timeline.ts';
import type { TimelineEvent } from '../components/timeline-items.ts';
import { copyable, shortToken } from '../components/token.ts';
import type { Action, Page, PageContext } from '../page.ts';
import { texts } from '../texts.ts';
import { type ListedPayout as Payout, destinationText, payoutPath } from './payouts.ts';
import { replayFormAt } from './webhook-replay.ts';

const words = texts.payouts;

const read = async ({ api, params }: PageContext): Promise<Payout> =>
  (await api.get<'OperatorPayout'>(`/api/v1/admin/payouts/${encodeURIComponent(params['token'] ?? '')}`))
    .payout;

export const payoutPage: Page = async (context) => {
  const { api, outcome } = context;
  const payout = await read(context);
  const { token, currency, orderNumber } = payout;
  const [{ events }, { webhooks }] = await Promise.all([
    api.get<'OperatorHistory'>(`/api/v1/admin/payouts/${token}/events`),
    api.get<'WebhookList'>(`/api/v1/webhooks?token=${token}`, payout),
  ]);
  const mayReplay = mayDo(context.session.grants, 'payouts', payout);
  const replayForm = mayReplay ? replayFormAt(payoutPath(token), context) : undefined;
  const main = html`${outcomeSection(outcome)}
    <section id="facts" class="payment" data-region="">
      <div class="heading">
        <h1>
          ${amount(payout.amount, currency)}
          ${orderNumber === undefined ? undefined : html`<small>${texts.payment.order} ${copyable(orderNumber)}</small>`}
        </h1>
        <p>${chip(payout.phase)}</p>
      </div>
      ${nextOf(payout, events)} ${reviewsNotice(token, payout.reviews)} ${factsOf(payout)}
    </section>
    <div id="approval" data-region="">
      ${decisions[payout.phase] === undefined ? undefined : approvalPanel(payout, context)}
    </div>
    <section id="timeline" class="panel" data-region="" aria-labelledby="timeline-title">
      <h2 id="timeline-title">${words.happened}</h2>
      ${timeline({ events, webhooks, disputes: [], currency, replayForm, address: context.address })}
    </section>`;
  const title = `${orderNumber ?? shortToken(token)} · ${amountText(payout.amount, currency)} · ${phaseName(payout.phase)}`;
  return { title, main, isLive: true };
};

function nextOf({ phase, approval }: Payout, events: readonly TimelineEvent[]): Html | undefined {
  const refusal = openRefusal(events);
  const text = words.next[phase];
  const lapses = approval && decisions[phase] && html` ${words.lapses} ${relative(approval.lapsesAt)}.`;
  return html`<p class="next">
    ${refusal === undefined ? undefined : html`<span class="refused">${sign('bad')} ${refusal}</span>`}
    <b>${texts.payment.next}</b> ${text ?? texts.next.finalOnly}${lapses}
  </p>`;
}

function factsOf(payout: Payout): Html {
  const { team, environment, token, createdAt, approval, declineReason, errors } = payout;
  const names = texts.payment.facts;
  const failure = errors.map(({ code, message }) => message ?? code).join(' ');
  return factList([
    [names.team, `${team}, ${environment}`],
    [words.columns.destination, destinationText(payout.destination)],
    [names.token, copyable(token)],
    [names.created, time(createdAt)],
    [words.askedBy, approval && html`<code>${approval.askedBy}</code>`],
    [words.grantedBy, approval?.grantedBy],
    [words.declined, declineReason],
    [words.failed, failure === '' ? undefined : failure],
    ...metadataFacts(payout.metadata),
  ]);
}

/** The possible decisions, until the payout is sent. */
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

/** The requester must not decide on the payout. The API enforces this as well. */
function decisionOf(payout: Payout, { person, csrf }: PageContext['session']): Html {
  const { token, currency, approval, destination } = payout;
  if (approval?.askedBy === keyIdOfPerson(person)) return html`<p class="calm">${words.own}</p>`;
  const sum = amountText(payout.amount, currency);
  const { approve, compare, refuse } = words;
  return actionRow(csrf, [
    {
      name: approve.name,
      path: `${payoutPath(token)}/approve`,
      says: approve.says(sum, destinationText(destination)),
      does: approve.does(sum),
      isAllowed: decisions[payout.phase]?.includes('approve') === true,
    },
    {
      name: compare.name,
      path: `${payoutPath(token)}/compare`,
      says: compare.says(destinationText(destination)),
      fields: html`<label
        >${compare.account}<input
          name="account"
          required
          maxlength="64"
          autocomplete="off"
          spellcheck="false"
        />
      </label>`,
      does: compare.does,
      isHarmless: true,
      isAllowed: destination.kind === 'bankAccount',
    },
    {
      name: refuse.name,
      path: `${payoutPath(token)}/refuse`,
      says: refuse.says(sum),
      fields: html`<label
        >${refuse.reason}<textarea name="reason" required maxlength="1000" rows="3"></textarea>
      </label>`,
      does: refuse.does,
    },
  ]);
}

/** The security log records who compared, and the result. */
export const compareDestination: Action = async (context, form) => {
  const payout = await read(context);
  const answer = await context.api.call<{ isSame: boolean }>({
    method: 'POST',
    path: `/api/v1/payouts/${payout.token}/check-destination`,
    within: payout,
    body: { account: form.get('account') ?? '' },
  });
  const location = payoutPath(payout.token);
  if (answer.kind === 'refused') return { location, outcome: refusedOutcome(answer) };
  const { isSame } = answer.body;
  return { location, outcome: { isDone: isSame, text: isSame ? words.compare.same : words.compare.differs } };
};

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
    return answered(answer, payoutPath(payout.token), words[decision].done);
  };
