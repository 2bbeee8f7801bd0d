/** The account of a gateway that has brought up its own sandbox. */
import { readFileSync } from 'node:fs';
import { defaultProvider } from '@tollgate/provider';
import { Secret, StartupError } from '@tollgate/service-kit';
import {
  type AccountName,
  type ConfiguredAccount,
  accountNamesOf,
  readAccountsFile,
} from './account-config.ts';
import type { DataDirectory } from './data-directory.ts';

/** @param reached.ca PEM */
export const sandboxAccount = (reached: {
  httpsUrl: string;
  ca: string;
  key: Secret;
}): ConfiguredAccount => ({
  environment: 'sandbox',
  name: 'sandbox',
  provider: defaultProvider,
  weight: 1,
  priority: 0,
  concurrentCallsMax: 64,
  // It is on this machine.
  callsPerSecondMax: 10_000,
  baseUrl: reached.httpsUrl,
  privateKey: reached.key,
  ca: reached.ca,
});

/** Their names, without their keys; undefined if not known here. @throws as `accountNamesOf` */
export function accountNamesBesideGateway(
  accountsFile: string | undefined,
  directory: Pick<DataDirectory, 'readQuickstart'>,
): readonly AccountName[] | undefined {
  if (accountsFile !== undefined) return accountNamesOf(accountsFile);
  const hasSandbox = directory.readQuickstart()?.paymentServiceUrl !== undefined;
  return hasSandbox ? [{ environment: 'sandbox', name: 'sandbox' }] : undefined;
}

/**
 * The accounts that a gateway on this folder uses, for a command next to it.
 *
 * @throws StartupError if the file cannot be used, or there is neither a file nor a sandbox
 */
export function accountsBesideGateway(
  accountsFile: string | undefined,
  directory: Pick<DataDirectory, 'readQuickstart'>,
): readonly ConfiguredAccount[] {
  if (accountsFile !== undefined) return readAccountsFile(accountsFile);
  const { paymentServiceUrl, paymentServiceKey, caFile } = directory.readQuickstart() ?? {};
  if (paymentServiceUrl === undefined || paymentServiceKey === undefined || caFile === undefined)
    throw new StartupError(
      'config_invalid',
      'PROVIDER_ACCOUNTS_FILE is not set, and the gateway has no sandbox. Set it to the accounts file of the gateway.',
    );
  const ca = readFileSync(caFile, 'utf8');
  return [sandboxAccount({ httpsUrl: paymentServiceUrl, ca, key: new Secret(paymentServiceKey) })];
}
