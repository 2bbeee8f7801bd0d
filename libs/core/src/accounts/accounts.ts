/** The merchant accounts: which one takes a payment, in which order they are tried, and when each may be called. */
import { hash } from 'node:crypto';
import { type AccountState, merchantAccountKey } from '../domain/merchant-account/merchant-account.ts';
import { type Environment } from '../domain/values.ts';
import type { Inquirer } from '../provider.ts';
import { type Clock, type Log, StartupError } from '@tollgate/service-kit';
import {
  type Account,
  type AccountConfig,
  type AccountHealth,
  type PermitResult,
  inquiryLimits,
} from './account.ts';
import {
  type AccountGate,
  type Purpose,
  createAccountGate,
  shareOf,
  unavailable,
  waitForAny,
} from './permits.ts';
import type { SharedRate } from './rate.ts';

export type { Account, AccountConfig } from './account.ts';

/**
 * A permit is taken before the call is announced, so that what cannot be sent now is not recorded either. Inquiries
 * need none: they have a budget of their own.
 */
export interface Accounts {
  /**
   * Names of the accounts that may take a creation, in the order in which they are to be tried. The same for the same
   * token on every instance, so that a repeat chooses alike.
   */
  route(wanted: CreationWanted): readonly string[];
  /** A permit of the first account of the route that has one at once; else of the one that has one first, within the wait. */
  permitForCreation(wanted: CreationWanted, options?: PermitOptions): Promise<PermitResult>;
  /** A permit of this account only, which has taken the payment: whatever follows goes there. */
  permitOf(environment: Environment, name: string, options?: PermitOptions): Promise<PermitResult>;
  /** A permit for something new, of one of these accounts: of the first that has one at once, as of a route. */
  permitAmong(
    environment: Environment,
    names: readonly string[],
    options?: PermitOptions,
  ): Promise<PermitResult>;
  /** What inquiries to an account need; undefined if it is not configured any more. */
  inquiriesOf(environment: Environment, name: string): AccountInquiries | undefined;
  /** What operators have decided about it; undefined if it is not configured. */
  stateOf(environment: Environment, name: string): AccountState | undefined;
  /** The accounts of every environment. */
  all(): readonly Account[];
  health(): readonly AccountHealth[];
}

/** What operators change while the process runs. */
export interface ChangeableAccounts extends Accounts {
  /** Calls under way go on; callers that wait for a permit that is no longer given are turned away. */
  setState(environment: Environment, name: string, state: AccountState): void;
  /** Pauses every account, including those that are configured later, until `setState`. */
  pauseAll(): void;
  /**
   * Takes the place of those that are configured. What is under way through an account of the same name counts on, and its
   * circuit stays as it is.
   *
   * @throws StartupError if they could not be started with; then nothing has changed
   */
  configure(accounts: readonly Account[]): void;
}

interface PermitOptions {
  /** False: a permit that is not there at once is unavailable. */
  mayWait?: boolean;
}

interface AccountInquiries {
  provider: Inquirer;
  limits: InquiryLimits;
}

/** The share of this process, as it is now. */
export interface InquiryLimits {
  concurrentMax: () => number;
  perSecondMax: () => number;
  /** Of calls and inquiries together, where the provider counts both. */
  total: () => SharedRate | undefined;
}

/** @throws StartupError where two accounts have one name in an environment, or a limit is not a whole number of at least 1. */
export function createAccounts(deps: {
  accounts: readonly Account[];
  clock: Clock;
  log: Log;
  /** Processes that call the provider, this one included; absent: it is the only one. */
  processes?: () => number;
}): ChangeableAccounts {
  const { clock, log, processes = () => 1 } = deps;
  let accounts: readonly Account[] = [];
  // Also of those that are not configured any more: they may come back, and calls may be under way.
  const gates = new Map<string, AccountGate>();
  const states = createStates(gates);
  let inUse: ReadonlyMap<string, AccountGate> = new Map();
  const configured = (environment: Environment, name: string) =>
    inUse.get(merchantAccountKey(environment, name));
  const route = (wanted: CreationWanted) => routeOf(accounts, wanted);

  function configure(next: readonly Account[]): void {
    assertUsable(next);
    accounts = next;
    inUse = new Map(next.map((account) => [keyOf(account), gateFor(account)]));
  }
  function gateFor(account: Account): AccountGate {
    const key = keyOf(account);
    const gate = gates.get(key) ?? createAccountGate({ account, clock, log, processes });
    gates.set(key, gate);
    gate.configure(account);
    gate.setState(states.of(key));
    return gate;
  }
  configure(deps.accounts);

  async function permitOfAny(
    candidates: readonly (AccountGate | undefined)[],
    purpose: Purpose,
    { mayWait = true }: PermitOptions = {},
  ): Promise<PermitResult> {
    const known = candidates.filter((gate) => gate !== undefined);
    if (known.length === 0) return { kind: 'no-account' };
    for (const gate of known) {
      const permit = gate.tryPermit(purpose);
      if (permit !== undefined) return { kind: 'permit', permit };
    }
    return mayWait ? waitForAny(known, purpose, clock) : unavailable(known, purpose);
  }

  return {
    route,
    permitForCreation: (wanted, options) =>
      permitOfAny(
        route(wanted).map((name) => configured(wanted.environment, name)),
        'new',
        options,
      ),
    permitOf: (environment, name, options) => permitOfAny([configured(environment, name)], 'begun', options),
    permitAmong: (environment, names, options) =>
      permitOfAny(
        names.map((name) => configured(environment, name)),
        'new',
        options,
      ),
    inquiriesOf(environment, name) {
      const gate = configured(environment, name);
      return gate && { provider: gate.account().provider, limits: limitsOf(gate, processes) };
    },
    stateOf: (environment, name) => configured(environment, name)?.state(),
    all: () => accounts,
    health: () => [...inUse.values()].map((gate) => gate.health()),
    setState: states.set,
    pauseAll: states.pauseAll,
    configure,
  };
}

function createStates(gates: ReadonlyMap<string, AccountGate>) {
  const states = new Map<string, AccountState>();
  let otherwise: AccountState = 'active';
  return {
    of: (key: string): AccountState => states.get(key) ?? otherwise,
    set(environment: Environment, name: string, state: AccountState): void {
      const key = merchantAccountKey(environment, name);
      states.set(key, state);
      gates.get(key)?.setState(state);
    },
    pauseAll(): void {
      states.clear();
      otherwise = 'paused';
      for (const gate of gates.values()) gate.setState(otherwise);
    },
  };
}

function limitsOf({ account, total }: AccountGate, processes: () => number): InquiryLimits {
  const { concurrentInquiriesMax, inquiriesPerSecondMax } = inquiryLimits;
  return {
    concurrentMax: () => shareOf(account().concurrentInquiriesMax ?? concurrentInquiriesMax, processes()),
    perSecondMax: () => (account().inquiriesPerSecondMax ?? inquiriesPerSecondMax) / processes(),
    total,
  };
}

const keyOf = ({ environment, name }: Account): string => merchantAccountKey(environment, name);

/** A limit of 0 or NaN would not fail but let nothing pass, or everything. */
function assertUsable(accounts: readonly Account[]): void {
  const seen = new Set<string>();
  for (const account of accounts) {
    const { weight, priority, concurrentCallsMax, callsPerSecondMax, failuresInARowMax = 1 } = account;
    const { concurrentInquiriesMax = 1, inquiriesPerSecondMax = 1, totalPerSecondMax = 1 } = account;
    const key = keyOf(account);
    for (const [field, value] of Object.entries({
      weight,
      concurrentCallsMax,
      callsPerSecondMax,
      failuresInARowMax,
      concurrentInquiriesMax,
      inquiriesPerSecondMax,
      totalPerSecondMax,
    }))
      if (!Number.isSafeInteger(value) || value < 1)
        throw new StartupError(
          'config_invalid',
          `${field} of the account ${key} must be a whole number of at least 1.`,
        );
    if (!Number.isSafeInteger(priority))
      throw new StartupError('config_invalid', `priority of the account ${key} must be a whole number.`);
    if (seen.has(key))
      throw new StartupError('config_invalid', `There are two accounts ${key}; give each its own name.`);
    seen.add(key);
  }
}

export interface CreationWanted {
  environment: Environment;
  team: string;
  /** ISO 4217 alphabetic code. */
  currency: string;
  /** The payment's; decides among accounts of one priority. */
  token: string;
}

/**
 * Weighted rendezvous hashing: each account draws a number out of the token and its own name, and the highest is first.
 * The order needs no memory and does not depend on that of the configuration; an account that comes or goes moves only
 * the payments that it takes or had.
 */
export function routeOf(accounts: readonly AccountConfig[], wanted: CreationWanted): readonly string[] {
  const usable = accounts.filter((account) => takes(account, wanted));
  // Most often there is one, and nothing to draw.
  if (usable.length <= 1) return usable.map(({ name }) => name);
  return usable
    .map((account) => ({ account, score: scoreOf(account, wanted.token) }))
    .sort(
      (a, b) =>
        a.account.priority - b.account.priority ||
        b.score - a.score ||
        (a.account.name < b.account.name ? -1 : 1),
    )
    .map(({ account }) => account.name);
}

const takes = ({ environment, teams, currencies }: AccountConfig, wanted: CreationWanted): boolean =>
  environment === wanted.environment &&
  (teams?.includes(wanted.team) ?? true) &&
  (currencies?.includes(wanted.currency) ?? true);

const drawnBits = 48;

/** With `draw` uniform in (0, 1), the highest of `-weight / ln(draw)` belongs to each account as often as its weight says. */
function scoreOf({ name, weight }: AccountConfig, token: string): number {
  const bytes = hash('sha256', JSON.stringify([token, name]), 'buffer');
  const draw = (bytes.readUIntBE(0, drawnBits / 8) + 0.5) / 2 ** drawnBits;
  return -weight / Math.log(draw);
}
