/** The merchant accounts that this gateway uses: those of a file, or one at a sandbox of its own. */
import { type Accounts, createAccounts } from '@tollgate/command-service';
import { providers } from '@tollgate/provider';
import { StartupError } from '@tollgate/service-kit';
import { readAccountsFile } from '../configuration/account-config.ts';
import type { DataDirectory } from '../configuration/data-directory.ts';
import type { GatewayDependencies } from '../configuration/gateway-dependencies.ts';
import { sandboxAccount } from '../configuration/sandbox-account.ts';
import { measureProvider } from './metrics/measured-provider.ts';
import type { Metrics } from '../edge/metrics/metrics.ts';
import { type Sandbox, openSandbox } from './sandbox.ts';

export interface OpenedAccounts {
  accounts: Accounts;
  /** Undefined where the accounts are those of a file. */
  sandbox: Sandbox | undefined;
}

/** Connections of an account beside those of the calls that move money: for inquiries, balances and disputes. */
const inquireConnectionsMax = 32;

/**
 * @param deps `isWhole` where this process runs all services: only then the sandbox is its own to start; `processes` that
 * call the accounts, this one included
 * @throws StartupError where the file cannot be used
 */
export async function openAccounts(
  deps: GatewayDependencies & { metrics: Metrics; isWhole: boolean; processes: () => number },
  directory: DataDirectory,
  stops: AsyncDisposableStack,
): Promise<OpenedAccounts> {
  const { config, env, clock, logOf } = deps;
  const { accountsFile } = config;
  if (accountsFile === undefined && !deps.isWhole)
    throw new StartupError(
      'config_invalid',
      'Set PROVIDER_ACCOUNTS_FILE: only a process that runs all services brings a sandbox of its own (npm run services brings one beside them).',
    );
  const sandbox = accountsFile === undefined ? await openSandbox(deps, directory, stops) : undefined;
  const configured =
    sandbox === undefined
      ? readAccountsFile(accountsFile ?? '', { env })
      : [{ ...sandboxAccount(sandbox), failuresInARowMax: config.failuresInARowMax }];
  const accounts = configured.map((account) => {
    const provider = providers[account.provider]({
      ...account,
      deadlineMs: config.times.callDeadlineMs,
      maxConnections: account.concurrentCallsMax + inquireConnectionsMax,
      clock,
    });
    stops.defer(() => provider.close());
    return { ...account, provider: measureProvider(provider, account, deps) };
  });
  return {
    accounts: createAccounts({ accounts, clock, log: logOf('accounts'), processes: deps.processes }),
    sandbox,
  };
}
