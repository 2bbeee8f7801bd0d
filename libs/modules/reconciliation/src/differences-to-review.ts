/** Decides which difference opens a review. Compares one row of the provider's list, or one of our operations that it lacks. */
import {
  type Difference,
  type ReconciledPart,
  type ReconciliationRequest,
  noCounts,
} from './reconciliation.ts';
import {
  type OperationKind,
  decideUnmatched,
  type Cause,
  requireDone,
  type AnySubject,
  type SubjectState,
  type Subjects,
  stateOf,
  subjectsOf,
  type UnmatchedOperations,
  deriveUnmatchedToken,
  resolveAsKnown,
  type AskAccount,
  type Listed,
  type InquiryResult,
  type CallTimes,
  quietPeriodMs,
  deriveAdoptedToken,
  tokenInOrderNumber,
} from '@tollgate/core';
import { type Clock, omitUndefined, dayMs } from '@tollgate/service-kit';
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

export interface ComparedRow extends ReconciledPart {
  /** Our tokens on which both sides agree. */
  matchedToken?: string;
}

export async function compareRow(
  deps: RowDependencies,
  context: RowContext,
  row: ListedRow,
): Promise<ComparedRow> {
  const token = tokenOf(deps, context, row);
  const view = token === undefined ? undefined : deps.books.find(context.operation, token);
  if (view !== undefined && isOurs(view, context) && agrees(view, row))
    return known(view, matched(context, view, row));
  // The index may lag; the recorded events count.
  const subject = token === undefined ? undefined : await subjectsOf(deps, token).load(token);
  if (subject === undefined || !isOurs(subject, context)) return onlyAtService(deps, context, row, token);
  return known(subject, await compareSubject(deps, context, subject, row));

  async function known(ours: BookedOperation, compared: ComparedRow): Promise<ComparedRow> {
    await endAsNobodys(deps, context, { row, token: ours.token });
    return compared;
  }
}

async function compareSubject(
  deps: RowDependencies,
  context: RowContext,
  subject: AnySubject,
  row: ListedRow,
): Promise<ComparedRow> {
  if (agrees(subject, row)) return matched(context, subject, row);
  const isUnderWay = stateOf(subject).phase === 'requested';
  if (isUnderWay || subject.updatedAt > context.readAt)
    return { ...part(context, 'underWay'), teams: [stateOf(subject).team] };
  return differs(deps, context, subject, row);
}

/** A run that opened a review, and ended before it saw a concurrent adoption, leaves that to the next run. */
async function endAsNobodys(
  { unmatched }: RowDependencies,
  { request, operation, cause }: RowContext,
  { row: { serviceToken, orderNumber }, token: own }: { row: ListedRow; token: string },
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
  for (const days of [0, -1, 1])
    for (const page of books.pagesOf(operation, { environment, account, day: dayBeside(day, days) }))
      for (const view of page) if (stateOf(view).serviceToken === row.serviceToken) return view.token;
  return undefined;
}

const dayBeside = (day: string, days: number) =>
  new Date(Date.parse(day) + days * dayMs).toISOString().slice(0, 10);

function matched(context: RowContext, subject: BookedOperation, row: ListedRow): ComparedRow {
  const isOther = isAnother(subject, row);
  return {
    ...part(context, 'matched'),
    // An abandoned attempt does not affect the payment.
    ...(isOther ? {} : { matchedToken: subject.token }),
    sums: sumsOfBoth(context, subject, row),
    teams: [stateOf(subject).team],
  };
}

/** A second attempt is not in our books. */
const hereOf = (subject: SubjectState, row: ListedRow) =>
  isAnother(subject, row) ? undefined : standingHere(subject);

/** Each side in its own currency. */
function sumsOfBoth({ operation }: RowContext, subject: SubjectState, row: ListedRow) {
  const here = hereOf(subject, row);
  return [
    sumsOf(operation, stateOf(subject).terms.currency, { here }),
    sumsOf(operation, row.currency, { there: standingThere(row, here) }),
  ];
}

async function differs(
  deps: RowDependencies,
  context: RowContext,
  subject: AnySubject,
  row: ListedRow,
): Promise<ComparedRow> {
  const { request, operation, cause } = context;
  const { token } = subject;
  const isOther = isAnother(subject, row);
  const standings = { here: hereOf(subject, row), there: standingThere(row) };
  const { serviceToken, currency } = row;
  const known = { operation, token, serviceToken, currency, ...omitUndefined(standings) };
  const kind = isOther ? 'another_token' : 'differs';
  const difference = { ...known, kind, isSettled: request.isDryRun ? false : await settle() } as const;
  return {
    ...part(context, 'differing', [difference]),
    sums: sumsOfBoth(context, subject, row),
    teams: [stateOf(subject).team],
  };

  async function settle(): Promise<boolean> {
    if (isOther) return inquireOther();
    requireAsked(await deps.inquire(token, cause));
    const after = await subjectsOf(deps, token).load(token);
    return after !== undefined && (agrees(after, row) || stateOf(after).reviews.length > 0);
  }

  /** Accounts of earlier attempts are inquired as well; a silent one delays no other. */
  async function inquireOther(): Promise<boolean> {
    const { account } = request;
    const { orderNumber } = row;
    const result = await deps.inquireNamed(token, serviceToken, cause, { account, orderNumber });
    if (!deps.askAccount.mayAsk(request)) requireAsked(result);
    const after = await subjectsOf(deps, token).load(token);
    return after !== undefined && knows(stateOf(after), serviceToken);
  }
}

/** True if it is ours by now, or a person has been asked about it. */
const knows = (
  { serviceToken: own, discrepancies }: ReturnType<typeof stateOf>,
  serviceToken: string,
): boolean => own === serviceToken || discrepancies.some((each) => each.serviceToken === serviceToken);

/** After a restore, a later request under its number may be another one. */
async function isAdopted(
  deps: RowDependencies,
  context: RowContext,
  row: ListedRow,
  own: string | undefined,
) {
  if (own === undefined || isUnder(own, row.orderNumber)) return false;
  const subject = await subjectsOf(deps, own).load(own);
  return subject !== undefined && isOurs(subject, context);
}

async function onlyAtService(
  deps: RowDependencies,
  context: RowContext,
  row: ListedRow,
  /** Its record here, if adopted. */
  own: string | undefined,
): Promise<ComparedRow> {
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
    if (isOpened && (await isAdopted(deps, context, row, own)))
      await resolveAsKnown(deps.unmatched, token, cause);
  }
  // A person has resolved it, and it has not changed since.
  if (!isNew && known?.reviews.length === 0)
    return { ...part(context, 'matched'), sums: [sumsOf(operation, currency, { there })] };
  const difference: Difference = {
    kind: 'only_at_service',
    operation,
    serviceToken,
    currency,
    there,
    isSettled: mayOpen,
  };
  return {
    ...part(context, 'onlyAtService', [difference]),
    sums: [sumsOf(operation, currency, { there })],
  };
}

/** One of our accepted operations that is missing in the provider's list of its day. */
export async function compareMissing(
  deps: RowDependencies,
  context: RowContext,
  subject: BookedOperation,
  serviceToken: string,
): Promise<ComparedRow> {
  const { operation, request } = context;
  const teams = [stateOf(subject).team];
  if (subject.createdAt > context.readAt - quietPeriodMs(deps.times))
    return { ...part(context, 'underWay'), teams };
  const found = request.isDryRun
    ? await lookFor(deps, context, serviceToken)
    : await inquireMissing(deps, context, subject.token);
  if (found !== 'missing') return { ...part(context, found), teams };
  const here = standingHere(subject);
  const { currency } = stateOf(subject).terms;
  const difference: Difference = {
    kind: 'only_here',
    operation,
    token: subject.token,
    serviceToken,
    currency,
    here,
    isSettled: !request.isDryRun,
  };
  return {
    ...part(context, 'onlyHere', [difference]),
    sums: [sumsOf(operation, currency, { here })],
    teams,
  };
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
  differences: Difference[] = [],
): ReconciledPart => ({ operation, counts: { ...noCounts, [count]: 1 }, sums: [], differences, teams: [] });
