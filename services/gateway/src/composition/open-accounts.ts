/** The merchant accounts that this gateway uses: those of a file, or one at its own sandbox. */
import { isDeepStrictEqual } from 'node:util';
import { type Account, type ChangeableAccounts, type Provider } from '@tollgate/core';
import { providers } from '@tollgate/provider';
import { StartupError } from '@tollgate/service-kit';
import { type ConfiguredAccount, readAccountsFile } from '../configuration/account-config.ts';
import type { DataDirectory } from '../configuration/data-directory.ts';
import type { GatewayDependencies } from '../configuration/gateway-dependencies.ts';
import { sandboxAccount } from '../configuration/sandbox-account.ts';
import { measureProvider } from './metrics/measured-provider.ts';
import type { Metrics } from '../edge/metrics/metrics.ts';
import { openSandbox } from './sandbox.ts';
import type { AccountsFile, FileDifferences } from '@tollgate/merchant-accounts';
import { createAccounts, merchantAccountKey } from '@tollgate/accounts';

/** Connections of an account next to those of the calls that move money: for inquiries, balances and disputes. */
const inquireConnectionsMax = 32;

type OpenDependencies = GatewayDependencies & {
  metrics: Metrics;
  /** Whether this process runs all services: only then the sandbox is its own to start. */
  isWhole: boolean;
  /** Processes that call the accounts, including this one. */
  processes: () => number;
};

/** @throws StartupError if the file cannot be used */
export async function openAccounts(
  deps: OpenDependencies,
  directory: DataDirectory,
  stops: AsyncDisposableStack,
) {
  const { config, clock, logOf, processes } = deps;
  const { accountsFile } = config;
  const toAccount = accountMaker(deps, stops);
  const accountsOf = (configured: readonly ConfiguredAccount[]): ChangeableAccounts =>
    createAccounts({ accounts: configured.map(toAccount), clock, log: logOf('accounts'), processes });
  if (accountsFile !== undefined) {
    const read = () => readAccountsFile(accountsFile);
    const configured = read();
    const accounts = accountsOf(configured);
    const use = (next: readonly ConfiguredAccount[]) => accounts.configure(next.map(toAccount));
    return { accounts, file: reloadable({ read, use, accounts, configured }), sandbox: undefined };
  }
  if (!deps.isWhole)
    throw new StartupError(
      'config_invalid',
      'Set PROVIDER_ACCOUNTS_FILE: only a process that runs all services starts a sandbox.',
    );
  const sandbox = await openSandbox(deps, directory, stops);
  const own = { ...sandboxAccount(sandbox), failuresInARowMax: config.failuresInARowMax };
  return { accounts: accountsOf([own]), file: undefined, sandbox };
}

/** Of the same address and key the same provider: its connections live as long as the process. */
function accountMaker(deps: OpenDependencies, stops: AsyncDisposableStack) {
  const made: { of: ConfiguredAccount; provider: Provider }[] = [];
  function providerOf(account: ConfiguredAccount): Provider {
    const known = made.find(({ of }) => isSameProvider(of, account));
    if (known !== undefined) return known.provider;
    const opened = providers[account.provider]({
      ...account,
      deadlineMs: deps.config.times.callDeadlineMs,
      maxConnections: account.concurrentCallsMax + inquireConnectionsMax,
      clock: deps.clock,
    });
    // Calls may be under way when it is replaced, so none is closed before.
    stops.defer(() => opened.close());
    const provider = measureProvider(opened, account, deps);
    made.push({ of: account, provider });
    return provider;
  }
  return (account: ConfiguredAccount): Account => ({ ...account, provider: providerOf(account) });
}

/** The fixed parameters of a provider. */
const isSameProvider = (one: ConfiguredAccount, other: ConfiguredAccount): boolean =>
  isDeepStrictEqual(providerTermsOf(one), providerTermsOf(other));

const providerTermsOf = (account: ConfiguredAccount) => {
  const { environment, name, provider, baseUrl, privateKey, ca, concurrentCallsMax } = account;
  return [environment, name, provider, baseUrl, ca, concurrentCallsMax, privateKey.reveal()];
};

function reloadable({
  read,
  use,
  accounts,
  ...given
}: {
  read: () => readonly ConfiguredAccount[];
  use: (next: readonly ConfiguredAccount[]) => void;
  accounts: Pick<ChangeableAccounts, 'stateOf'>;
  configured: readonly ConfiguredAccount[];
}): AccountsFile {
  let { configured } = given;
  function readNext() {
    const next = read();
    const differences = differencesBetween(configured, next);
    const lost = configured.find(
      ({ environment, name }) =>
        accounts.stateOf(environment, name) !== 'draining' &&
        differences.removed.includes(merchantAccountKey(environment, name)),
    );
    if (lost !== undefined)
      throw new StartupError(
        'config_invalid',
        `The accounts file lacks ${merchantAccountKey(lost.environment, lost.name)}, which is not drained. Restore the entry, or drain the account first.`,
      );
    return { next, differences };
  }
  return {
    compare: () => readNext().differences,
    reload() {
      const { next, differences } = readNext();
      use(next);
      configured = next;
      return differences;
    },
  };
}

function differencesBetween(
  before: readonly ConfiguredAccount[],
  after: readonly ConfiguredAccount[],
): FileDifferences {
  const byKey = (accounts: readonly ConfiguredAccount[]) =>
    new Map(
      accounts.map(({ privateKey, ...account }) => [
        merchantAccountKey(account.environment, account.name),
        { ...account, key: privateKey.reveal() },
      ]),
    );
  const [old, next] = [byKey(before), byKey(after)];
  return {
    added: [...next.keys()].filter((key) => !old.has(key)),
    changed: [...next].flatMap(([key, account]) =>
      old.has(key) && !isDeepStrictEqual(old.get(key), account) ? [key] : [],
    ),
    removed: [...old.keys()].filter((key) => !next.has(key)),
  };
}
