import { readFileSync } from 'node:fs';
import { Secret, StartupError, errorCode } from '@tollgate/service-kit';
import { type DataDirectory, inUse } from '../configuration/data-directory.ts';
import type { GatewayDependencies } from '../configuration/gateway-dependencies.ts';

/** The Payment Service that runs in this process, and how it is reached. */
export interface Sandbox {
  httpsUrl: string;
  httpUrl: string;
  caFile: string;
  /** PEM. */
  ca: string;
  key: Secret;
}

/**
 * The sandbox of this process. If another gateway has started one on the same folder, a named instance uses that one.
 *
 * @throws StartupError `data_dir_in_use`
 */
export async function openSandbox(
  deps: GatewayDependencies,
  directory: DataDirectory,
  stops: AsyncDisposableStack,
): Promise<Sandbox> {
  try {
    return await startSandbox(deps, directory, stops);
  } catch (error) {
    if (errorCode(error) !== 'data_dir_in_use') throw error;
    const there = deps.config.instance === undefined ? undefined : sandboxBeside(directory);
    if (there === undefined) throw inUse(directory.path, error);
    return there;
  }
}

function sandboxBeside(directory: DataDirectory): Sandbox | undefined {
  const { paymentServiceUrl, paymentServiceHttpUrl, paymentServiceKey, caFile } =
    directory.readFirstQuickstart() ?? {};
  if (paymentServiceUrl === undefined || paymentServiceHttpUrl === undefined) return undefined;
  if (paymentServiceKey === undefined || caFile === undefined) return undefined;
  return {
    httpsUrl: paymentServiceUrl,
    httpUrl: paymentServiceHttpUrl,
    caFile,
    ca: readFileSync(caFile, 'utf8'),
    key: new Secret(paymentServiceKey),
  };
}

const keyDamaged = (file: string, cause: unknown): StartupError =>
  new StartupError(
    'quickstart_damaged',
    `paymentServiceKey in ${file} is not a key of the sandbox. Correct it, or remove the file to get new keys, and start again.`,
    { cause },
  );

export const quickstartFieldsOf = ({ httpsUrl, httpUrl, key, caFile }: Sandbox) => ({
  paymentServiceUrl: httpsUrl,
  paymentServiceHttpUrl: httpUrl,
  paymentServiceKey: key.reveal(),
  caFile,
});

/** Starts the Payment Service of the specification as a sandbox in this process; its key stays the same over restarts. */
async function startSandbox(
  { config, clock, ids, logOf }: GatewayDependencies,
  directory: DataDirectory,
  stops: AsyncDisposableStack,
): Promise<Sandbox> {
  const { startPaymentService } = await import('@tollgate/payment-service');
  const sandboxConfig = { ...config.paymentService, dataDir: directory.path };
  const log = logOf('payment-service');
  const { addresses, ensureMerchant, stop } = await startPaymentService({
    config: sandboxConfig,
    clock,
    ids,
    log,
  });
  stops.defer(stop);
  const known = directory.readQuickstart()?.paymentServiceKey;
  const registration = known === undefined ? { name: 'demo' } : { name: 'demo', key: new Secret(known) };
  const { key } = await ensureMerchant(registration).catch((error: unknown) => {
    throw errorCode(error) === 'key_invalid' ? keyDamaged(directory.quickstartFile, error) : error;
  });
  return { ...addresses, ca: readFileSync(addresses.caFile, 'utf8'), key };
}
