/** Planted bugs in what bounds the money of teams, and in what teams read. */
import type { PlantedBug } from './planted-bugs.ts';

const domain = 'libs/payment-domain/src';
const commands = 'services/command-service/src';
const queries = 'services/query-service/src';

const rules: readonly PlantedBug[] = [
  {
    ...{ name: 'day-without-limit', breaks: 'no limit of a day is passed', seeds: 200 },
    file: `${commands}/limits/spending.ts`,
    from: 'if (BigInt(amount) > left) {',
    to: 'if (BigInt(amount) > left + BigInt(perDay)) {',
  },
  {
    ...{ name: 'open-is-nothing', breaks: 'what may yet be paid counts under a limit', seeds: 1000 },
    file: `${commands}/limits/spending-outcome.ts`,
    from: "const unless = now >= lapsesAt ? 'nothing' : 'open';",
    to: "const unless = now >= lapsesAt - Infinity ? 'nothing' : 'open';",
  },
  {
    ...{ name: 'reserved-unseen', breaks: 'two processes reserve under one limit', seeds: 400 },
    file: `${commands}/limits/spending.ts`,
    from: 'ids.uuid(), type, data, metadata }], ledger.revision);',
    to: "ids.uuid(), type, data, metadata }], 'any');",
  },
  {
    ...{ name: 'approved-by-oneself', breaks: 'the key that asked cannot approve', seeds: 400 },
    file: `${domain}/payout/payout-approval.ts`,
    from: "  if (approval.askedBy === keyId) return refuse({ code: 'approval_by_requester' });\n  if (approval.grantedBy",
    to: '  if (approval.grantedBy',
  },
  {
    ...{ name: 'sent-unapproved', breaks: 'a payout above the sum waits for a second key', seeds: 200 },
    file: `${commands}/operations/payout-approval.ts`,
    from: 'amount > (approvalAbove[currency] ?? Infinity);',
    to: 'amount > 10 * (approvalAbove[currency] ?? Infinity) + 100;',
  },
];

const readers: readonly PlantedBug[] = [
  {
    ...{ name: 'checkpoint-at-once', breaks: 'a position is reached with all views up to it', seeds: 100 },
    file: 'libs/view-index/src/follow-views.ts',
    from: 'isGapless = item.isGapless === true;',
    to: 'isGapless = true;',
  },
  {
    ...{ name: 'a-read-goes-back', breaks: 'what was shown from its events is not shown older', seeds: 1000 },
    file: `${queries}/own-views.ts`,
    from: 'if (view.position < shown.position) return undefined;',
    to: '',
  },
  {
    ...{ name: 'position-not-awaited', breaks: 'a read includes the position that it asks for', seeds: 100 },
    file: `${queries}/min-position.ts`,
    from: '  if (await index.waitFor(position, beforeAskingMs, team)) return true;',
    to: '  if ((await index.waitFor(position, 0, team)) || beforeAskingMs > 0) return true;',
  },
  {
    ...{ name: 'feed-ends-early', breaks: 'a feed has every event of its team', seeds: 200 },
    file: `${queries}/feed/feed-pages.ts`,
    from: 'isAtEnd: isComplete && entries.length < limit',
    to: 'isAtEnd: (isComplete || true) && entries.length < limit',
  },
  {
    ...{ name: 'webhooks-in-any-order', breaks: 'the webhooks of a payment come in order', seeds: 200 },
    file: 'services/notifier/src/webhook-state.ts',
    from: 'const due = nextInLine(state).filter(',
    to: 'const due = state.webhooks.filter(({ state: each }) => each !== "delivered").toReversed().filter(',
  },
];

const notifier = 'services/notifier/src';

const receivers: readonly PlantedBug[] = [
  {
    ...{ name: 'endpoints-forgotten', breaks: 'an endpoint is known after a restart', seeds: 100 },
    file: `${notifier}/dispatcher.ts`,
    from: '  await endpoints.catchUp(deps.store, undefined, both);',
    to: '',
  },
  {
    ...{ name: 'overlap-forgotten', breaks: 'a former secret signs as long as was asked for', seeds: 100 },
    file: `${notifier}/endpoints/endpoint.ts`,
    from: 'return { secret: secret + 1, formerSecrets: kept };',
    to: 'return { secret: secret + 1, formerSecrets: kept.filter(() => false) };',
  },
  {
    ...{ name: 'given-up-unseen', breaks: 'a bulk replay sends what was given up before it', seeds: 400 },
    file: `${notifier}/endpoints/delivery-list.ts`,
    from: 'if (followed < head) await follow(',
    to: 'if (followed === beginning) await follow(',
  },
  {
    ...{ name: 'given-up-behind', breaks: 'nothing is given up once its endpoint is enabled', seeds: 1000 },
    file: `${notifier}/dispatcher.ts`,
    from: "if (event.type === 'DeliveryGivenUp') await",
    to: "if (event.type === 'DeliveryGivenUp' && token === '') await",
  },
];

const disputes: readonly PlantedBug[] = [
  {
    ...{ name: 'dispute-unmatched', breaks: 'a dispute is matched when its payment is known', seeds: 1000 },
    file: 'libs/payment-domain/src/dispute/dispute.ts',
    from: 'state.paymentToken === undefined ? matchWith(payment) : undefined;',
    to: 'state.paymentToken === undefined && state.amount < 0 ? matchWith(payment) : undefined;',
  },
  {
    ...{ name: 'dispute-unread', breaks: 'the lists of disputes are read by the clock, too', seeds: 100 },
    file: `${commands}/disputes/disputes-poller.ts`,
    from: 'await sleep(Math.max(0, pollEveryMs - pollPauseMs), signal, nudged.signal);',
    to: 'await sleep(pollEveryMs + 86_400_000, signal, nudged.signal);',
  },
  {
    ...{ name: 'list-in-hand', breaks: 'nothing that has moved is taken from a list', seeds: 400 },
    file: `${commands}/disputes/disputes-reading.ts`,
    from: 'reading.cause, { onlyAt });',
    to: 'reading.cause, {});',
  },
  {
    ...{ name: 'dispute-of-nobody', breaks: 'a feed has the disputes of its team', seeds: 1000 },
    file: `${queries}/feed/owners-of-streams.ts`,
    from: 'return { ...before, ...matchedSchema.safeParse(data).data };',
    to: 'return matchedSchema.safeParse(data).success ? before : undefined;',
  },
];

export const bugsForTeams: readonly PlantedBug[] = [...rules, ...readers, ...receivers, ...disputes];
