/** What the operations that move money have in common. */
import { type Clock, InvariantViolation } from '@tollgate/service-kit';
import type { Caller } from '@tollgate/teams';
import type { Permit, PermitResult, Unavailable } from '../accounts/account.ts';
import type { Accounts, PermitOptions } from '../accounts/accounts.ts';
import type { RecurringTokens } from '../aggregates/recurring-tokens.ts';
import type { Cause, Done, Repository } from '../aggregates/repository.ts';
import type { InquiryResult } from '../inquiries/inquiry-result.ts';
import type { CallTimes } from '../outbound/call-times.ts';
import type { Sender } from '../outbound/send.ts';
import type { QuietPeriods } from '../outbound/quiet-periods.ts';
import type { FingerprintsOf } from '../tokens.ts';
import { type Awaited, awaitOutcome } from './await-outcome.ts';

export interface OperationDependencies {
  /** Name of the installation that tokens are derived from. */
  installation: string;
  accounts: Accounts;
  sender: Sender;
  times: CallTimes;
  /** Finds out what the provider says about a payment or payout, and records it. */
  inquire: (token: string, cause: Cause) => Promise<InquiryResult>;
  quietPeriods: QuietPeriods;
  fingerprintsOf: FingerprintsOf;
  clock: Clock;
}

type InProgress = { code: 'operation_in_progress' };

/** Why an operation was not begun: nothing was announced, nothing was sent. */
export type NotBegun = Unavailable | { kind: 'no-account' };

export type OperationResult<Subject, Refusal extends { code: string }> =
  /** `aggregate` as it is after the call has ended, one way or another. */
  | { kind: 'answered'; aggregate: Subject; replayed: boolean }
  | { kind: 'refused'; refusal: Refusal | InProgress }
  | NotBegun;

export const inProgress = { kind: 'refused', refusal: { code: 'operation_in_progress' } } as const;

/** What an alias stands for, and the only account that can use it; undefined where the team has no such recurring token. */
export async function findRecurringToken(
  recurringTokens: RecurringTokens,
  caller: Caller,
  alias: string,
): Promise<{ account: string; recurringToken: string } | undefined> {
  const found = await recurringTokens.find(alias);
  if (found?.team !== caller.team || found.environment !== caller.environment) return undefined;
  return { account: found.account, recurringToken: found.serviceRecurringToken };
}

interface Repeat<Subject> {
  token: string;
  cause: Cause;
  awaited: (aggregate: Subject) => Awaited;
}

/** A request under a known token makes no call: a replay waits for the outcome, another request is refused. */
async function repeatRequest<Subject, Event, Input, Refusal extends { code: string }>(
  deps: OperationDependencies,
  repository: Repository<Subject, Event, Input, Refusal>,
  { input, ...repeat }: Repeat<Subject> & { input: Input },
): Promise<OperationResult<Subject, Refusal>> {
  const executed = await repository.execute(repeat.token, input, repeat.cause);
  if (executed.kind === 'refused') return executed;
  if (executed.kind === 'done' && executed.events.length > 0)
    throw new InvariantViolation('a repeat has announced a call');
  return answerRepeat(deps, repository, repeat);
}

// The announcement stands already: the one who appended it makes the call, we wait for its outcome.
async function answerRepeat<Subject>(
  deps: OperationDependencies,
  repository: { load(token: string): Promise<Subject | undefined> },
  repeat: Repeat<Subject>,
): Promise<OperationResult<Subject, never>> {
  const aggregate = await awaitOutcome(deps, repository, repeat);
  return aggregate === undefined ? inProgress : { kind: 'answered', aggregate, replayed: true };
}

interface MadeBy {
  /** The only accounts that can make the call, in the order in which they are to be tried; undefined where any can. */
  accounts: readonly string[] | undefined;
}

/** A payment or payout that a team asks for. */
interface Creation<
  Subject,
  Event,
  Input,
  Refusal extends { code: string },
  Prepared,
> extends Repeat<Subject> {
  caller: Caller;
  currency: string;
  repository: Repository<Subject, Event, Input, Refusal>;
  /** The command that announces the call through this account. */
  commandFor(account: string): Input;
  /** Why the team may not ask for it now; otherwise the accounts that can make the call, and what it sends. */
  prepare(): Promise<{ refused: Refusal } | (Prepared & MadeBy)>;
  /** Reserves what the command is about to use, or says why it may not. */
  reserve?: ((input: Input, account: string) => Promise<Refusal | InProgress | undefined>) | undefined;
  send(done: Done<Subject, Event>, permit: Permit, prepared: Prepared): Promise<Subject>;
}

export async function createOnce<Subject, Event, Input, Refusal extends { code: string }, Prepared>(
  deps: OperationDependencies,
  creation: Creation<Subject, Event, Input, Refusal, Prepared>,
): Promise<OperationResult<Subject, Refusal>> {
  const { repository, token, cause, commandFor } = creation;
  const repeat = () => repeatRequest(deps, repository, { ...creation, input: commandFor('') });
  const isThere = async () => repository.isKnown(token) || (await repository.load(token)) !== undefined;
  if (repository.isKnown(token)) return repeat();
  const prepared = await creation.prepare();
  // What is allowed now does not take back what was accepted: a replay is not checked. It makes no call.
  if ('refused' in prepared)
    return (await isThere()) ? repeat() : { kind: 'refused', refusal: prepared.refused };
  // Most are new, and the append tells: only one that would have to wait is looked for first.
  const atOnce = await permitForNew(deps, creation, prepared, { mayWait: false });
  if (atOnce.kind !== 'permit' && (await isThere())) return repeat();
  const result = atOnce.kind === 'unavailable' ? await permitForNew(deps, creation, prepared) : atOnce;
  if (result.kind !== 'permit') return result;

  using permit = result.permit;
  // Made before anything waits: what has waited too long by then is announced, and not sent.
  const input = commandFor(permit.account);
  // A repeat reserves nothing.
  if (creation.reserve !== undefined && (await isThere())) {
    permit.release('unused');
    return await repeat();
  }
  const refusal = await creation.reserve?.(input, permit.account);
  if (refusal !== undefined) {
    permit.release('unused');
    return (await isThere()) ? await repeat() : { kind: 'refused', refusal };
  }
  const announced = await repository.execute(token, input, cause, { isNew: true });
  if (announced.kind === 'moved') return inProgress;
  if (announced.kind === 'refused') return announced;
  if (announced.events.length === 0) {
    // Another request was faster. Waiting for its call holds no permit.
    permit.release('unused');
    return await answerRepeat(deps, repository, creation);
  }
  const aggregate = await creation.send(announced, permit, prepared);
  return { kind: 'answered', aggregate, replayed: false };
}

/** Of one of the only accounts that can make the call, or of any that takes it. */
function permitForNew(
  { accounts }: OperationDependencies,
  { caller: { environment, team }, currency, token }: { caller: Caller; currency: string; token: string },
  { accounts: only }: MadeBy,
  options?: PermitOptions,
): Promise<PermitResult> {
  if (only !== undefined) return accounts.permitAmong(environment, only, options);
  return accounts.permitForCreation({ environment, team, currency, token }, options);
}
