/** One payout: destination, requester, approval and timeline. */
import { type Html, html } from '@tollgate/service-kit';
import { formatGrants, keyIdOfPerson, mayDo } from '@tollgate/teams';
import { actionRow } from '../components/actions.ts';
import { amountText } from '../components/amount.ts';
import { factList, metadataFacts } from '../components/facts.ts';
import { panel, reasonField } from '../components/form.ts';
import { headingOf, nextLine, titleOf } from '../components/heading.ts';
import { answered, outcomeSection, reviewsNotice } from '../components/notice.ts';
import { chip } from '../components/state.ts';
import { relative, time } from '../components/time.ts';
import { timeline } from '../components/timeline.ts';
import { copyable, operationPath } from '../components/token.ts';
import type { Action, Page, PageContext } from '../page.ts';
import { type ListedPayout as Payout, destinationText } from './payouts.ts';
import { replayFormFor } from './webhooks.ts';

const nextSteps: Readonly<Record<string, string>> = {
  awaiting_approval: 'Another person approves or refuses the payout.',
  approval_granted: 'The team repeats its request, which sends the payout once.',
  requested: 'The payout is being sent.',
  unresolved: 'The answer was lost. The gateway checks the status.',
  pending: 'The Payment Service has not decided the payout. The gateway checks the status.',
};

const read = async ({ api, params }: PageContext): Promise<Payout> =>
  (await api.get<'OperatorPayout'>(`/api/v1/admin/payouts/${encodeURIComponent(params['token'] ?? '')}`))
    .payout;

export const payoutPage: Page = async (context) => {
  const { api, outcome } = context;
  const payout = await read(context);
  const { token, currency } = payout;
  const [{ events }, { webhooks }] = await Promise.all([
    api.get<'OperatorHistory'>(`/api/v1/admin/payouts/${token}/events`),
    api.get<'WebhookList'>(`/api/v1/webhooks?token=${token}`, payout),
  ]);
  const mayReplay = mayDo(context.session.grants, 'payouts', payout);
  const replayForm = mayReplay ? replayFormFor(payout, context) : undefined;
  const { address } = context;
  const main = html`${outcomeSection(outcome)}
    <section id="facts" class="payment" data-region="">
      ${headingOf(payout, chip(payout.phase))} ${nextLine(events, nextStep(payout))}
      ${reviewsNotice(token, payout.reviews)} ${factsOf(payout)}
    </section>
    <div id="decision" data-region="">
      ${decisions[payout.phase] && panel('approval', 'Approval', approvalOf(payout, context), false)}
    </div>
    ${panel('timeline', 'Timeline', timeline({ events, webhooks, disputes: [], currency, replayForm, address }))}`;
  return { title: titleOf(payout), main, isLive: true };
};

function nextStep({ phase, approval }: Payout): Html {
  const lapses = approval && decisions[phase] && html` The request lapses ${relative(approval.lapsesAt)}.`;
  return html`${nextSteps[phase] ?? 'Final. No further checks.'}${lapses}`;
}

function factsOf(payout: Payout): Html {
  const { team, environment, token, createdAt, approval, declineReason, errors } = payout;
  const failure = errors.map(({ code, message }) => message ?? code).join(' ');
  return factList([
    ['Team', `${team}, ${environment}`],
    ['To', destinationText(payout.destination)],
    ['Token', copyable(token)],
    ['Created', time(createdAt)],
    ['Requested by key', approval && html`<code>${approval.askedBy}</code>`],
    ['Approved by', approval?.grantedBy],
    ['Decline reason', declineReason],
    ['Failure reason', failure === '' ? undefined : failure],
    ...metadataFacts(payout.metadata),
  ]);
}

/** The possible decisions, until the payout is sent. */
const decisions: Partial<Record<string, readonly ('approve' | 'refuse')[]>> = {
  awaiting_approval: ['approve', 'refuse'],
  approval_granted: ['refuse'],
};

const approvalOf = (payout: Payout, { session }: PageContext): Html =>
  mayDo(session.grants, 'approvals', payout)
    ? decisionOf(payout, session)
    : html`<p class="calm">
        Your role, ${formatGrants(session.grants)}, cannot approve or refuse payouts. Ask an admin.
      </p>`;

/** The requester must not decide on the payout. The API enforces this as well. */
function decisionOf(payout: Payout, { person, csrf }: PageContext['session']): Html {
  const { token, currency, approval, destination } = payout;
  if (approval?.askedBy === keyIdOfPerson(person))
    return html`<p class="calm">You requested this payout, so another person must approve or refuse it.</p>`;
  const sum = amountText(payout.amount, currency);
  return actionRow(csrf, [
    {
      name: 'Approve',
      path: `${operationPath(token)}/approve`,
      says: `Approves ${sum} to ${destinationText(destination)}. Approving sends nothing. The team must repeat its request within 24 hours, which sends the payout once.`,
      does: `Approve ${sum}`,
      isAllowed: decisions[payout.phase]?.includes('approve') === true,
    },
    {
      name: 'Compare the account',
      path: `${operationPath(token)}/compare`,
      says: `Compares the account number of the invoice with ${destinationText(destination)}. The full number is not stored, so it cannot be shown. The security log records each comparison.`,
      fields: html`<label
        >Account number<input name="account" required maxlength="64" autocomplete="off" spellcheck="false" />
      </label>`,
      does: 'Compare',
      isHarmless: true,
      isAllowed: destination.kind === 'bankAccount',
    },
    {
      name: 'Refuse',
      path: `${operationPath(token)}/refuse`,
      says: `Ends the payout of ${sum} and releases its amount. The team reads your reason.`,
      fields: reasonField('stored in the history'),
      does: 'Refuse the payout',
    },
  ]);
}

/** The security log records who compared, and the result. */
export const compareDestination: Action = async (context, form) => {
  const payout = await read(context);
  const answer = await context.api.post<{ isSame: boolean }>(
    `/api/v1/payouts/${payout.token}/check-destination`,
    { account: form.get('account') ?? '' },
    { within: payout },
  );
  return answered(answer, operationPath(payout.token), ({ isSame }) => ({
    isDone: isSame,
    text: isSame
      ? 'The payout goes to this account.'
      : 'The payout goes to another account. Do not approve it.',
  }));
};

const doneTexts = {
  approve: 'Approved. Nothing is sent yet: the team repeats its request, which sends the payout once.',
  refuse: 'The payout is refused.',
};

export const decidePayout =
  (decision: 'approve' | 'refuse'): Action =>
  async (context, form) => {
    const payout = await read(context);
    const body = decision === 'refuse' ? { reason: form.get('reason') ?? '' } : {};
    const path = `/api/v1/payouts/${payout.token}/${decision}`;
    const answer = await context.api.post(path, body, { within: payout });
    return answered(answer, operationPath(payout.token), doneTexts[decision]);
  };
