/**
 * Assigns payments that an account made before Tollgate to a team. Makes no call that moves money, and skips payments that are
 * already adopted: a run that was killed is started again.
 */
import type { EventStore } from '@tollgate/event-store';
import {
  type Actor,
  type Environment,
  type ComparablePayment,
  type RecurringTokens,
  createRecurringTokens,
  type Cause,
  type AskAccount,
  refundedAmountOf,
  type Inquirer,
  type InquiryOutcome,
} from '@tollgate/core';
import { type Clock, type Ids, type Vault, dayMs, TollgateError } from '@tollgate/service-kit';
import { type AdoptedRow, adoptRow, type AdoptionOutcome, adoptionOutcomes } from './adopt-row.ts';
import { type Adoptions, createAdoptions } from './decide-adoption.ts';
import { type UnmatchedOperations, createUnmatchedOperations } from '@tollgate/books';

export interface AdoptionOrder {
  environment: Environment;
  account: string;
  team: string;
  /** Of the team, as `walletNameOf` names it. */
  wallet: string;
  /** Days of creation, `YYYY-MM-DD` in UTC, both included. */
  from: string;
  to: string;
  /** True for a payment to adopt, as the provider lists it. */
  matches(found: ComparablePayment): boolean;
  /** Destination of the team's webhooks about them; absent: none are sent. */
  callbackUrl?: string;
  /** Money of payments made on this day or later may be paid out, `YYYY-MM-DD` in UTC; absent: of none. */
  payableFrom?: string;
  /** True: reports what would be done, and changes nothing. */
  isDryRun: boolean;
}

export interface AdoptionDependencies {
  /** As `nameOfInstallation` returns it. */
  installation: string;
  store: EventStore;
  /** Encrypts recurring tokens. */
  vault: Vault;
  askAccount: AskAccount;
  /** Our payment with this provider token, if known. */
  findByServiceToken(serviceToken: string): Promise<{ team: string } | undefined>;
  clock: Clock;
  ids: Ids;
  /** The actor in the events. */
  actor: Actor;
}

export interface Adopting extends Omit<AdoptionDependencies, 'askAccount'> {
  order: AdoptionOrder;
  adoptions: Adoptions;
  recurringTokens: RecurringTokens;
  unmatched: UnmatchedOperations;
  ask: Ask;
  cause: Cause;
}

export interface AdoptionWatch {
  signal: AbortSignal;
  /** Called once for each payment that matches; in no particular order within a page. */
  onRow(row: AdoptedRow): void;
  onDay(day: string, soFar: AdoptionTally): void;
  /** Called before each pause after which a silent account is inquired again. */
  onWait?(pauseMs: number): void;
}

/** Rows processed concurrently. */
const concurrentRowsMax = 16;

/**
 * @throws TollgateError `provider_not_answering`, `provider_refused`, `stopped`, whose message says what to do;
 * StoreUnavailable
 */
export async function adoptPayments(
  deps: AdoptionDependencies,
  order: AdoptionOrder,
  { signal, onRow, onDay, onWait = () => undefined }: AdoptionWatch,
): Promise<AdoptionTally> {
  const id = deps.ids.uuid();
  const cause: Cause = {
    correlationId: id,
    causationId: id,
    actor: deps.actor,
  };
  const adopting: Adopting = {
    ...deps,
    order,
    cause,
    ask: askPatiently(deps, order, { cause, signal, onWait }),
    adoptions: createAdoptions(deps),
    recurringTokens: createRecurringTokens(deps),
    unmatched: createUnmatchedOperations(deps),
  };
  const tally = createTally();
  for (const day of daysOf(order)) {
    for await (const found of rowsOfDay(adopting.ask, day))
      await eachOf(found, async (row) => {
        const adopted = await adoptRow(adopting, row);
        tally.add(adopted);
        if (adopted.outcome !== 'not_matching') onRow(adopted);
      });
    onDay(day, tally.sum());
  }
  return tally.sum();
}

function* daysOf({ from, to }: Pick<AdoptionOrder, 'from' | 'to'>): Generator<string> {
  for (let at = Date.parse(from); at <= Date.parse(to); at += dayMs)
    yield new Date(at).toISOString().slice(0, 10);
}

/**
 * Everything made on a day, each once: payments made meanwhile push rows onto the next page. Without a total from the provider,
 * the day ends with the first empty page.
 */
async function* rowsOfDay(ask: Ask, day: string): AsyncGenerator<ComparablePayment[]> {
  const seen = new Set<string>();
  for (let page = 1; ; page += 1) {
    const answer = await ask((provider) => provider.pageOfPayments({ from: day, to: day, page }));
    const { found, total = Number.POSITIVE_INFINITY } = answer ?? { found: [] };
    if (found.length === 0) return;
    const fresh = found.filter(({ observed: { serviceToken } }) => !seen.has(serviceToken));
    for (const { observed } of fresh) seen.add(observed.serviceToken);
    yield fresh;
    if (seen.size >= total) return;
  }
}

/** After a failure nothing more is begun, and work under way ends first. */
async function eachOf<Item>(items: readonly Item[], work: (item: Item) => Promise<void>): Promise<void> {
  const rest = items.values();
  let hasFailed = false;
  const worker = async () => {
    for (const item of rest) {
      if (hasFailed) return;
      await work(item).catch((error: unknown) => {
        hasFailed = true;
        throw error;
      });
    }
  };
  const ends = await Promise.allSettled(Array.from({ length: concurrentRowsMax }, worker));
  const failed = ends.find((end) => end.status === 'rejected');
  if (failed !== undefined) throw failed.reason;
}

export interface AdoptionTally {
  outcomes: Record<AdoptionOutcome, number>;
  /** Adopted by this run, by currency: minor units in decimal digits, because a sum may exceed a number. */
  sums: { currency: string; approved: string; refunded: string }[];
  recurringTokens: number;
}

function createTally() {
  const counts = new Map<AdoptionOutcome, number>();
  const sums = new Map<string, { approved: bigint; refunded: bigint }>();
  let recurringTokens = 0;
  return {
    add({ outcome, found: { observed }, recurringToken }: AdoptedRow): void {
      counts.set(outcome, (counts.get(outcome) ?? 0) + 1);
      if (outcome !== 'adopted') return;
      const { currency, amount, status } = observed;
      const isPaid = status === 'approved' || status === 'refunded';
      const { approved, refunded } = sums.get(currency) ?? { approved: 0n, refunded: 0n };
      sums.set(currency, {
        approved: approved + BigInt(isPaid ? amount : 0),
        refunded: refunded + BigInt(refundedAmountOf(observed) ?? 0),
      });
      if (recurringToken !== undefined) recurringTokens += 1;
    },
    sum: (): AdoptionTally => ({
      outcomes: Object.fromEntries(
        adoptionOutcomes.map((outcome) => [outcome, counts.get(outcome) ?? 0]),
      ) as Record<AdoptionOutcome, number>,
      sums: [...sums].map(([currency, { approved, refunded }]) => ({
        currency,
        approved: approved.toString(),
        refunded: refunded.toString(),
      })),
      recurringTokens,
    }),
  };
}

/**
 * Retries until there is an answer; undefined if the provider has nothing under the token.
 *
 * @throws TollgateError `provider_not_answering`, `provider_refused`, `stopped`
 */
type Ask = <Answer>(
  inquiry: (provider: Inquirer) => Promise<InquiryOutcome<Answer>>,
) => Promise<Answer | undefined>;

/** Pauses between tries: together about a minute. @unit milliseconds */
const pausesMs = [1_000, 2_000, 5_000, 10_000, 20_000, 20_000];

function askPatiently(
  { askAccount, clock }: { askAccount: AskAccount; clock: Clock },
  { environment, account }: { environment: Environment; account: string },
  { cause, signal, onWait }: { cause: Cause; signal: AbortSignal; onWait: (pauseMs: number) => void },
): Ask {
  return async (inquiry) => {
    for (let tries = 0; ; tries += 1) {
      if (signal.aborted) throw stopped();
      const outcome = await askAccount({ environment, account }, cause, inquiry);
      if (outcome.kind === 'accepted') return outcome.answer;
      if (outcome.kind === 'missing') return undefined;
      if (outcome.kind === 'refused') throw refused(account, outcome.errors);
      const pauseMs = pausesMs[tries];
      if (pauseMs === undefined) throw notAnswering(account);
      onWait(pauseMs);
      await clock.sleep(pauseMs, signal).catch(() => undefined);
    }
  };
}

const stopped = () => new TollgateError('stopped', 'Stopped; start it again, and it continues.');

const refused = (account: string, errors: readonly { code: string }[]) => {
  const codes = errors.map(({ code }) => code).join(', ') || 'without a code';
  return new TollgateError(
    'provider_refused',
    `The account ${account} is refused by its provider (${codes}); set its address and private key right and start again.`,
  );
};

const notAnswering = (account: string) =>
  new TollgateError(
    'provider_not_answering',
    `The provider of the account ${account} gives no answer; start again once it does, and it continues.`,
    { retryable: true },
  );
