/**
 * Takes one row of the provider's list, or one of our operations that the list lacks. An operation that only the provider has
 * opens a review. A payment or payout that differs is inquired, and the core opens the review (`observation.ts`).
 */
import { type ReconciledPart, type ReconciliationRequest, noCounts } from './reconciliation.ts';
import {
  type Cause,
  requireDone,
  type SubjectState,
  type Subjects,
  stateOf,
  subjectsOf,
  type AskAccount,
  type Listed,
  type InquiryResult,
  type CallTimes,
  quietPeriodMs,
  deriveAdoptedToken,
  tokenInOrderNumber,
} from '@tollgate/core';
import { type Clock, omitUndefined, dayMs, utcDayOf } from '@tollgate/service-kit';
import {
  type BookedOperation,
  type Books,
  type ListedRow,
  agrees,
  isAnother,
  standingHere,
  standingThere,
  sumsOf,
} from './comparison.ts';
import {
  type OperationKind,
  decideUnmatched,
  type UnmatchedOperations,
  deriveUnmatchedToken,
  resolveAsKnown,
} from '@tollgate/books';

export interface RowDependencies extends Subjects {
  /** As `nameOfInstallation` returns it. */
  installation: string;
  unmatched: UnmatchedOperations;
  books: Books;
  askAccount: AskAccount;
  inquire: (token: string, cause: Cause) => Promise<InquiryResult>;
  inquireNamed: (token: string, serviceToken: string, cause: Cause, listed: Listed) => Promise<InquiryResult>;
  /** The only team of an account, which sees operations without an owner; undefined if there are several. */
  soleTeamOf: (request: ReconciliationRequest) => string | undefined;
  times: CallTimes;
  clock: Clock;
}

/** The account cannot be inquired now: uncompared rows wait until it can. */
export class AccountSilent extends Error {}

export interface RowContext {
  request: ReconciliationRequest;
  operation: OperationKind;
  cause: Cause;
  /** When the list was requested, milliseconds since the Unix epoch. */
  readAt: number;
  /** Remaining reviews of operations that only the provider has, for this run. */
  reviewsLeft: { count: number };
}

export async function compareRow(
  deps: RowDependencies,
  context: RowContext,
  row: ListedRow,
): Promise<ReconciledPart> {
  const token = tokenOf(deps, context, row);
  const view = token === undefined ? undefined : deps.books.find(context.operation, token);
  const isIndexed = view !== undefined && isOurs(view, context) && agrees(view, row);
  // The index may lag; the recorded events count.
  const subject = isIndexed || token === undefined ? view : await subjectsOf(deps, token).load(token);
  if (subject === undefined || !isOurs(subject, context)) return onlyAtService(deps, context, row, token);
  const compared = agrees(subject, row)
    ? part(context, 'matched', bothSides(context, subject, row))
    : await differs(deps, context, subject, row);
  await endAsNobodys(deps, context, row, subject.token);
  return compared;
}

/** A run that opened a review, and ended before it saw a concurrent adoption, leaves that to the next run. */
async function endAsNobodys(
  { unmatched }: RowDependencies,
  { request, operation, cause }: RowContext,
  { serviceToken, orderNumber }: ListedRow,
  own: string,
): Promise<void> {
  if (isUnder(own, orderNumber)) return;
  const { environment, account, isDryRun } = request;
  const token = deriveUnmatchedToken({ environment, account, operation, serviceToken });
  if (!isDryRun) await resolveAsKnown(unmatched, token, cause);
}

/** Our number with an unknown token: a person decides. */
const isUnder = (own: string, orderNumber: string | undefined): boolean =>
  orderNumber?.startsWith(`${own}.`) === true;

const isOurs = (subject: SubjectState, { request }: RowContext): boolean =>
  stateOf(subject).environment === request.environment;

/** By our number; else by the provider's token: an adopted payment has its team's number, and some rows show none. */
function tokenOf(
  { books, installation }: RowDependencies,
  { request, operation }: RowContext,
  row: ListedRow,
) {
  const token = tokenInOrderNumber(operation === 'payout' ? 'po' : 'pay', row.orderNumber);
  if (token !== undefined) return token;
  const { environment, account, day } = request;
  if (operation === 'payment')
    return (
      books.findPayment(environment, account, row.serviceToken) ??
      deriveAdoptedToken({ installation, environment }, account, row.serviceToken)
    );
  if (row.orderNumber !== undefined) return undefined;
  // A call announced around midnight may have another day there.
  for (const days of [0, -1, 1]) {
    const listed = { environment, account, day: utcDayOf(Date.parse(day) + days * dayMs) };
    for (const page of books.pagesOf(operation, listed))
      for (const view of page) if (stateOf(view).serviceToken === row.serviceToken) return view.token;
  }
  return undefined;
}

/** A second attempt is not in our books. */
const hereOf = (subject: SubjectState, row: ListedRow) =>
  isAnother(subject, row) ? undefined : standingHere(subject);

/** Each side in its own currency. */
function bothSides({ operation }: RowContext, subject: SubjectState, row: ListedRow) {
  const here = hereOf(subject, row);
  const { terms, team } = stateOf(subject);
  const there = sumsOf(operation, row.currency, { there: standingThere(row, here) });
  return { sums: [sumsOf(operation, terms.currency, { here }), there], teams: [team] };
}

async function differs(
  deps: RowDependencies,
  context: RowContext,
  subject: BookedOperation,
  row: ListedRow,
): Promise<ReconciledPart> {
  const { request, operation, cause, readAt } = context;
  const { token } = subject;
  const { phase, team } = stateOf(subject);
  if (phase === 'requested' || subject.updatedAt > readAt)
    return part(context, 'underWay', { teams: [team] });
  const isOther = isAnother(subject, row);
  const standings = { here: hereOf(subject, row), there: standingThere(row) };
  const { serviceToken, currency } = row;
  const known = { operation, token, serviceToken, currency, ...omitUndefined(standings) };
  const kind = isOther ? 'another_token' : 'differs';
  const difference = { ...known, kind, isSettled: request.isDryRun ? false : await settle() } as const;
  return part(context, 'differing', { differences: [difference], ...bothSides(context, subject, row) });

  async function settle(): Promise<boolean> {
    if (isOther) return inquireOther();
    requireAsked(await deps.inquire(token, cause));
    const after = await subjectsOf(deps, token).load(token);
    return after !== undefined && (agrees(after, row) || stateOf(after).reviews.length > 0);
  }

  /** Accounts of earlier attempts are inquired as well; a silent one delays no other. */
  async function inquireOther(): Promise<boolean> {
    const listed = { account: request.account, orderNumber: row.orderNumber };
    const result = await deps.inquireNamed(token, serviceToken, cause, listed);
    if (!deps.askAccount.mayAsk(request)) requireAsked(result);
    const after = await subjectsOf(deps, token).load(token);
    if (after === undefined) return false;
    // It is ours by now, or a person has been asked about it.
    const { serviceToken: own, discrepancies } = stateOf(after);
    return own === serviceToken || discrepancies.some((each) => each.serviceToken === serviceToken);
  }
}

async function onlyAtService(
  deps: RowDependencies,
  context: RowContext,
  row: ListedRow,
  /** Its record here, if adopted. */
  own: string | undefined,
): Promise<ReconciledPart> {
  const { request, operation, cause, readAt, reviewsLeft } = context;
  const { environment, account, day } = request;
  // Without its time only the day is known.
  const { serviceToken, currency, orderNumber, createdAt = Date.parse(day) + dayMs } = row;
  if (createdAt > readAt - quietPeriodMs(deps.times)) return part(context, 'underWay');
  const there = standingThere(row);
  const named = { environment, account, operation, serviceToken };
  const facts = { ...named, ...there, currency, ...omitUndefined({ orderNumber, createdAt: row.createdAt }) };
  const team = deps.soleTeamOf(request);
  const observed = { type: 'ObserveUnmatched', facts, ...omitUndefined({ team }) } as const;
  const token = deriveUnmatchedToken(named);
  const known = (await deps.unmatched.load(token))?.unmatched;
  const decision = decideUnmatched(known, observed);
  const isNew = decision.kind === 'events' && decision.events.some(({ type }) => type === 'ReviewOpened');
  const mayOpen = !request.isDryRun && (!isNew || reviewsLeft.count > 0);
  if (mayOpen) {
    if (isNew) reviewsLeft.count -= 1;
    const { events } = requireDone(await deps.unmatched.execute(token, observed, cause));
    // Adopted in the meantime by an operator who has not seen this review.
    const isOpened = events.some(({ type }) => type === 'ReviewOpened');
    // After a restore, a later request under its number may be another one.
    const adopted =
      isOpened && own !== undefined && !isUnder(own, orderNumber)
        ? await subjectsOf(deps, own).load(own)
        : undefined;
    if (adopted !== undefined && isOurs(adopted, context)) await resolveAsKnown(deps.unmatched, token, cause);
  }
  const sums = [sumsOf(operation, currency, { there })];
  // A person has resolved it, and it has not changed since.
  if (!isNew && known?.reviews.length === 0) return part(context, 'matched', { sums });
  const seen = { operation, serviceToken, currency, there };
  const difference = { kind: 'only_at_service', ...seen, isSettled: mayOpen } as const;
  return part(context, 'onlyAtService', { differences: [difference], sums });
}

/** One of our accepted operations that is missing in the provider's list of its day. */
export async function compareMissing(
  deps: RowDependencies,
  context: RowContext,
  subject: BookedOperation,
  serviceToken: string,
): Promise<ReconciledPart> {
  const { operation, request } = context;
  const { token } = subject;
  const teams = [stateOf(subject).team];
  if (subject.createdAt > context.readAt - quietPeriodMs(deps.times))
    return part(context, 'underWay', { teams });
  const found = request.isDryRun
    ? await lookFor(deps, context, serviceToken)
    : await inquireMissing(deps, context, token);
  if (found !== 'missing') return part(context, found, { teams });
  const here = standingHere(subject);
  const { currency } = stateOf(subject).terms;
  const seen = { operation, token, serviceToken, currency, here };
  const difference = { kind: 'only_here', ...seen, isSettled: !request.isDryRun } as const;
  return part(context, 'onlyHere', {
    differences: [difference],
    sums: [sumsOf(operation, currency, { here })],
    teams,
  });
}

function requireAsked(result: InquiryResult): InquiryResult {
  if (result === 'not-asked') throw new AccountSilent(result);
  return result;
}

type Looked = 'missing' | 'onOtherDays' | 'underWay' | 'matched';

/** The ordinary inquiry: if it is missing, a review opens, unless a person keeps our record. */
async function inquireMissing(deps: RowDependencies, { cause }: RowContext, token: string): Promise<Looked> {
  if (requireAsked(await deps.inquire(token, cause)) !== 'inquired') return 'underWay';
  const after = await subjectsOf(deps, token).load(token);
  const onlyHere = after && stateOf(after).discrepancies.find(({ kind }) => kind === 'only_here');
  if (after === undefined || onlyHere?.state === 'open') return 'missing';
  return onlyHere === undefined ? 'onOtherDays' : 'matched';
}

async function lookFor(
  { askAccount }: RowDependencies,
  { request, operation, cause }: RowContext,
  serviceToken: string,
): Promise<Looked> {
  const outcome = await askAccount<unknown>(request, cause, async (provider) =>
    operation === 'payment' ? provider.inquirePayment(serviceToken) : provider.inquirePayout(serviceToken),
  );
  if (outcome.kind === 'not-asked') throw new AccountSilent(outcome.kind);
  if (outcome.kind === 'missing') return 'missing';
  return outcome.kind === 'accepted' ? 'onOtherDays' : 'underWay';
}

const part = (
  { operation }: RowContext,
  count: keyof typeof noCounts,
  found: Partial<Pick<ReconciledPart, 'sums' | 'differences' | 'teams'>> = {},
): ReconciledPart => ({
  operation,
  counts: { ...noCounts, [count]: 1 },
  sums: [],
  differences: [],
  teams: [],
  ...found,
});
