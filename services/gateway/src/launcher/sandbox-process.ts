/** The sandbox of the Payment Service as its own process, and the accounts file that leads to it. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { GatewayConfig } from '../configuration/config.ts';
import type { DataDirectory } from '../configuration/data-directory.ts';
import { sandboxLimits } from '../configuration/sandbox-account.ts';
import type { Member } from './process-group.ts';

const program = fileURLToPath(import.meta.resolve('@tollgate/payment-service')).replace(
  /index\.ts$/,
  'main.ts',
);

/** Kept by the process itself; seeded with the key of a sandbox that ran in the gateway's own process before. */
const keyFileName = 'payment-service-key';

/** The address that a sandbox prints. */
export interface SandboxAddresses {
  httpsUrl: string;
  httpUrl: string;
  caFile: string;
}

/** Its output contains its key, and is not shown. */
export function sandboxProcess(
  dataDirectory: DataDirectory,
  { paymentService: { httpsPort, httpPort, host }, logLevel }: GatewayConfig,
): { member: Member; addresses: () => SandboxAddresses } {
  const keyFile = join(dataDirectory.path, keyFileName);
  const known = dataDirectory.readQuickstart()?.paymentServiceKey;
  if (known !== undefined && !existsSync(keyFile)) writeFileSync(keyFile, `${known}\n`, { mode: 0o600 });
  const printed = new Map<string, string>();
  const member: Member = {
    label: 'payment-service',
    service: 'payment-service',
    argv: [program],
    port: httpsPort,
    inherited: ['PAYMENT_SERVICE_HOST_NAMES'],
    env: {
      TOLLGATE_DATA_DIR: dataDirectory.path,
      TOLLGATE_LOG_LEVEL: logLevel,
      PAYMENT_SERVICE_HOST: host,
      PAYMENT_SERVICE_HTTPS_PORT: String(httpsPort),
      PAYMENT_SERVICE_HTTP_PORT: String(httpPort),
    },
    isShown: false,
    isReadyLine(line) {
      const [, name = '', value = ''] = /^ {2}(HTTPS|HTTP|CA|key) +(\S+)/.exec(line) ?? [];
      // The key is in its file.
      if (name !== '' && name !== 'key') printed.set(name, value);
      return name === 'key';
    },
  };
  const valueOf = (name: string) => printed.get(name) ?? '';
  const addresses = () => ({ httpsUrl: valueOf('HTTPS'), httpUrl: valueOf('HTTP'), caFile: valueOf('CA') });
  return { member, addresses };
}

/** Writes an accounts file for it, as a gateway in production has one. @returns its path */
export function writeSandboxAccounts(
  { path }: DataDirectory,
  { httpsUrl, caFile }: Pick<SandboxAddresses, 'httpsUrl' | 'caFile'>,
  failuresInARowMax: number,
): string {
  const account = {
    name: 'sandbox',
    environment: 'sandbox',
    baseUrl: httpsUrl,
    privateKeyFile: keyFileName,
    caFile,
    ...sandboxLimits,
    failuresInARowMax,
  };
  const file = join(path, 'sandbox-accounts.json');
  writeFileSync(file, `${JSON.stringify({ accounts: [account] }, null, 2)}\n`, { mode: 0o600 });
  return file;
}

export const readSandboxKey = ({ path }: DataDirectory): string =>
  readFileSync(join(path, keyFileName), 'utf8').trim();
