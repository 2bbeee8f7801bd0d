/** The merchant accounts: which one takes a payment, and when it may be called. */
import type { Inquirer } from '@tollgate/provider';
import type { Environment } from '@tollgate/payment-domain';
import { type Clock, type Log, StartupError } from '@tollgate/service-kit';
import { type Account, type AccountHealth, type PermitResult, inquiryLimits } from './account.ts';
import { type AccountGate, createAccountGate } from './account-gate.ts';
import { shareOf } from './account-permits.ts';
import { type CreationWanted, routeOf } from './account-route.ts';
import { unavailable, waitForAny } from './permit-wait.ts';
import type { TokenBucket } from './token-bucket.ts';

export type { Account, AccountConfig, AccountHealth } from './account.ts';
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
  /** A permit of this account only: what follows a payment goes to the account that took it. */
  permitOf(environment: Environment, name: string, options?: PermitOptions): Promise<PermitResult>;
  /** A permit of one of these accounts: of the first that has one at once, as of a route. */
  permitAmong(
    environment: Environment,
    names: readonly string[],
    options?: PermitOptions,
  ): Promise<PermitResult>;
  /** What inquiries to an account need; undefined where it is not configured any more. */
  inquiriesOf(environment: Environment, name: string): AccountInquiries | undefined;
  /** The accounts of every environment. */
  all(): readonly Account[];
  health(): readonly AccountHealth[];
}

export interface PermitOptions {
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
  total: TokenBucket | undefined;
}

/** @throws StartupError where two accounts have one name in an environment, or a limit is not a whole number of at least 1. */
export function createAccounts(deps: {
  accounts: readonly Account[];
  clock: Clock;
  log: Log;
  /** Processes that call the provider, this one included; absent: it is the only one. */
  processes?: () => number;
}): Accounts {
  const { accounts, clock, log, processes = () => 1 } = deps;
  assertUsable(accounts);
  const gates = new Map<string, AccountGate>(
    accounts.map((account) => [
      keyOf(account.environment, account.name),
      createAccountGate({ account, clock, log, processes }),
    ]),
  );
  const gateOf = (environment: Environment, name: string) => gates.get(keyOf(environment, name));
  const route = (wanted: CreationWanted) => routeOf(accounts, wanted);

  async function permitOfAny(
    candidates: readonly (AccountGate | undefined)[],
    { mayWait = true }: PermitOptions = {},
  ): Promise<PermitResult> {
    const configured = candidates.filter((gate) => gate !== undefined);
    if (configured.length === 0) return { kind: 'no-account' };
    for (const gate of configured) {
      const permit = gate.tryPermit();
      if (permit !== undefined) return { kind: 'permit', permit };
    }
    return mayWait ? waitForAny(configured, clock) : unavailable(configured);
  }

  return {
    route,
    permitForCreation: (wanted, options) =>
      permitOfAny(
        route(wanted).map((name) => gateOf(wanted.environment, name)),
        options,
      ),
    permitOf: (environment, name, options) => permitOfAny([gateOf(environment, name)], options),
    permitAmong: (environment, names, options) =>
      permitOfAny(
        names.map((name) => gateOf(environment, name)),
        options,
      ),
    inquiriesOf(environment, name) {
      const gate = gateOf(environment, name);
      if (gate === undefined) return undefined;
      const { provider, concurrentInquiriesMax, inquiriesPerSecondMax } = gate.account;
      const limits = {
        concurrentMax: () =>
          shareOf(concurrentInquiriesMax ?? inquiryLimits.concurrentInquiriesMax, processes()),
        perSecondMax: () => (inquiriesPerSecondMax ?? inquiryLimits.inquiriesPerSecondMax) / processes(),
        total: gate.total,
      };
      return { provider, limits };
    },
    all: () => accounts,
    health: () => [...gates.values()].map((gate) => gate.health()),
  };
}

const keyOf = (environment: Environment, name: string): string => `${environment}/${name}`;

/** A limit of 0 or NaN would not fail but let nothing pass, or everything. */
function assertUsable(accounts: readonly Account[]): void {
  const seen = new Set<string>();
  for (const account of accounts) {
    const { weight, priority, concurrentCallsMax, callsPerSecondMax, failuresInARowMax = 1 } = account;
    const { concurrentInquiriesMax = 1, inquiriesPerSecondMax = 1, totalPerSecondMax = 1 } = account;
    const key = keyOf(account.environment, account.name);
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
      throw new StartupError('config_invalid', `There are two accounts ${key}; give each a name of its own.`);
    seen.add(key);
  }
}
