/** Merchant accounts: which ones accept a payment, in which order they are tried, and when each may be called. */
import { hash } from 'node:crypto';
import { type Clock, type Environment, type Log, StartupError } from '@tollgate/service-kit';
import {
  type Account,
  type AccountConfig,
  type AccountHealth,
  type AccountState,
  type PermitResult,
  inquiryLimits,
  merchantAccountKey,
} from './account.ts';
import {
  type AccountGate,
  type Purpose,
  createAccountGate,
  createPermitQueue,
  permitWaitMs,
  shareOf,
} from './permits.ts';

/**
 * Take a permit before announcing the call: a call that cannot be sent now is not recorded. Inquiries need no permit; they
 * have their own budget.
 */
export interface Accounts<Provider> {
  /**
   * Names of the accounts that may take a creation, in order. Deterministic by token, so that a replay on any instance
   * chooses the same account.
   */
  route(wanted: CreationWanted): readonly string[];
  /** A permit of the account that took the payment; every later call uses that account. */
  permitOf(environment: Environment, name: string, options?: PermitOptions): Promise<PermitResult<Provider>>;
  /** A permit for a new call: of the first account that has one at once; else the first that becomes available within the wait. */
  permitAmong(
    environment: Environment,
    names: readonly string[],
    options?: PermitOptions,
  ): Promise<PermitResult<Provider>>;
  /** Limits and client for inquiries to an account; undefined if it is no longer configured. */
  inquiriesOf(environment: Environment, name: string): AccountInquiries<Provider> | undefined;
  /** The operators' state of an account; undefined if it is not configured. */
  stateOf(environment: Environment, name: string): AccountState | undefined;
  all(): readonly Account<Provider>[];
  health(): readonly AccountHealth[];
}

/** Changes at run time. */
export interface ChangeableAccounts<Provider> extends Accounts<Provider> {
  /** Calls under way continue; callers that wait for a permit that is no longer issued are rejected. */
  setState(environment: Environment, name: string, state: AccountState): void;
  /** Pauses every account, including those configured later, until `setState`. */
  pauseAll(): void;
  /**
   * Replaces the configured accounts. Calls under way through an account of the same name still count, and its circuit is
   * kept.
   *
   * @throws StartupError if the accounts are invalid; then nothing has changed
   */
  configure(accounts: readonly Account<Provider>[]): void;
}

interface PermitOptions {
  /** False: do not wait for a permit. */
  mayWait?: boolean;
}

interface AccountInquiries<Provider> {
  provider: Provider;
  limits: InquiryLimits;
}

/** The current share of this process. */
export interface InquiryLimits {
  concurrentMax: () => number;
  perSecondMax: () => number;
}

/** @throws StartupError if a name occurs twice in an environment, or a limit is not an integer of at least 1 */
export function createAccounts<Provider>(deps: {
  accounts: readonly Account<Provider>[];
  clock: Clock;
  log: Log;
  /** Processes that call the provider, including this one. @default 1 */
  processes?: () => number;
}): ChangeableAccounts<Provider> {
  const { clock, log, processes = () => 1 } = deps;
  let accounts: readonly Account<Provider>[] = [];
  // Includes accounts that are no longer configured: they may return, and may still have calls under way.
  const gates = new Map<string, AccountGate<Provider>>();
  const queue = createPermitQueue<Provider>(clock);
  const states = createStates(gates);
  let inUse: ReadonlyMap<string, AccountGate<Provider>> = new Map();
  const configured = (environment: Environment, name: string) =>
    inUse.get(merchantAccountKey(environment, name));

  function configure(next: readonly Account<Provider>[]): void {
    assertUsable(next);
    accounts = next;
    inUse = new Map(next.map((account) => [keyOf(account), gateFor(account)]));
    queue.serve();
  }
  function gateFor(account: Account<Provider>): AccountGate<Provider> {
    const key = keyOf(account);
    const gate =
      gates.get(key) ??
      createAccountGate({ account, clock, log, processes, onRelease: () => queue.serve(1) });
    gates.set(key, gate);
    gate.configure(account);
    gate.setState(states.of(key));
    return gate;
  }
  configure(deps.accounts);

  async function permitOfAny(
    candidates: readonly (AccountGate<Provider> | undefined)[],
    purpose: Purpose,
    { mayWait = true }: PermitOptions = {},
  ): Promise<PermitResult<Provider>> {
    const known = candidates.filter((gate) => gate !== undefined);
    if (known.length === 0) return { kind: 'no-account' };
    return queue.enter(known, purpose, mayWait ? permitWaitMs : 0);
  }

  return {
    route: (wanted) => routeOf(accounts, wanted),
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
    health: () => [...inUse.values()].map((gate) => ({ ...gate.health(), waiting: queue.waitingFor(gate) })),
    setState(environment, name, state) {
      states.set(environment, name, state);
      queue.serve();
    },
    pauseAll() {
      states.pauseAll();
      queue.serve();
    },
    configure,
  };
}

function createStates(gates: ReadonlyMap<string, Pick<AccountGate<unknown>, 'setState'>>) {
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

function limitsOf(
  { account }: Pick<AccountGate<unknown>, 'account'>,
  processes: () => number,
): InquiryLimits {
  const { concurrentInquiriesMax, inquiriesPerSecondMax } = inquiryLimits;
  return {
    concurrentMax: () => shareOf(account().concurrentInquiriesMax ?? concurrentInquiriesMax, processes()),
    perSecondMax: () => (account().inquiriesPerSecondMax ?? inquiriesPerSecondMax) / processes(),
  };
}

const keyOf = ({ environment, name }: AccountConfig): string => merchantAccountKey(environment, name);

/** A limit of 0 or NaN would not fail: it would admit nothing, or everything. */
function assertUsable(accounts: readonly AccountConfig[]): void {
  const seen = new Set<string>();
  for (const account of accounts) {
    const { weight, priority, concurrentCallsMax, callsPerSecondMax, failuresInARowMax = 1 } = account;
    const { concurrentInquiriesMax = 1, inquiriesPerSecondMax = 1 } = account;
    const key = keyOf(account);
    for (const [field, value] of Object.entries({
      weight,
      concurrentCallsMax,
      callsPerSecondMax,
      failuresInARowMax,
      concurrentInquiriesMax,
      inquiriesPerSecondMax,
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
  /** The payment's token; decides among accounts of one priority. */
  token: string;
}

/**
 * Weighted rendezvous hashing: each account draws a number from the token and its own name; the highest is first. The
 * order needs no state and is independent of the configuration's order. Adding or removing an account moves only its own
 * payments.
 */
export function routeOf(accounts: readonly AccountConfig[], wanted: CreationWanted): readonly string[] {
  const usable = accounts.filter((account) => takes(account, wanted));
  // Usually there is one account, and nothing to draw.
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

/** With `draw` uniform in (0, 1), each account has the highest `-weight / ln(draw)` in proportion to its weight. */
function scoreOf({ name, weight }: AccountConfig, token: string): number {
  const bytes = hash('sha256', JSON.stringify([token, name]), 'buffer');
  const draw = (bytes.readUIntBE(0, drawnBits / 8) + 0.5) / 2 ** drawnBits;
  return -weight / Math.log(draw);
}
