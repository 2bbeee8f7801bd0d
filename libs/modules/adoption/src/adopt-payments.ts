/**
 * Assigns payments that an account made before Tollgate to a team. Makes no call that moves money, and skips payments that are
 * already adopted: a run that was killed is started again.
 */
import type { EventStore } from '@tollgate/event-store';
import {
  type Actor,
  type Environment,
  type ComparablePayment,
  type Adoptions,
  createAdoptions,
  type RecurringTokens,
  createRecurringTokens,
  type Cause,
  type UnmatchedOperations,
  createUnmatchedOperations,
  type AskAccount,
} from '@tollgate/core';
import { type Clock, type Ids, type Vault, dayMs } from '@tollgate/service-kit';
import { type AdoptedRow, adoptRow } from './adopt-row.ts';
import { type AdoptionTally, createTally } from './adoption-tally.ts';
import { type Ask, askPatiently } from './ask-patiently.ts';

export type { AdoptedRow } from './adopt-row.ts';
export type { AdoptionTally } from './adoption-tally.ts';

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
