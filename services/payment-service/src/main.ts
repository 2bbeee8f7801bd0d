/** Runs the Payment Service alone: `npx node services/payment-service/src/main.ts`. */
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { inspect } from 'node:util';
import {
  Secret,
  StartupError,
  createLog,
  errorCode,
  readConfig,
  systemClock,
  systemIds,
} from '@tollgate/service-kit';
import { paymentServiceConfigSchema } from './config.ts';
import { type PaymentService, startPaymentService } from './payment-service.ts';

const demoMerchant = 'demo';
const keyFileName = 'payment-service-key';

async function main(): Promise<void> {
  process.umask(0o077);
  const { logLevel, ...config } = readConfig(paymentServiceConfigSchema, process.env);
  // Logs go to standard error: standard output is for people and scripts.
  const log = createLog('payment-service', logLevel, process.stderr);
  const starting = startPaymentService({ config, clock: systemClock, ids: systemIds, log });
  // A failed start is reported below.
  const stop = async () => (await starting.catch(() => undefined))?.stop();
  // The third one closes when the parent process that held the channel exits.
  for (const event of ['SIGTERM', 'SIGINT', 'disconnect'] as const) process.once(event, () => void stop());
  // The channel reports its end without keeping the process running.
  process.channel?.unref();

  const service = await starting;
  const { httpsUrl, httpUrl, caFile } = service.addresses;
  process.stdout.write(`Payment Service (sandbox)
  HTTPS  ${httpsUrl}
  HTTP   ${httpUrl} (rejects everything)
  CA     ${caFile}
`);
  await introduceDemo(service, config.dataDir).catch(async (error: unknown) => {
    await service.stop();
    throw error;
  });
}

/** A merchant with its key in a file, so that a developer can call the sandbox at once. */
async function introduceDemo(
  { addresses: { httpsUrl, caFile }, ensureMerchant }: PaymentService,
  dataDir: string,
): Promise<void> {
  const keyFile = join(dataDir, keyFileName);
  const stored = await readKey(keyFile);
  const registration = { name: demoMerchant, ...(stored === undefined ? {} : { key: stored }) };
  const { key } = await ensureMerchant(registration);
  if (stored === undefined) await writeFile(keyFile, `${key.reveal()}\n`, { mode: 0o600 });
  // Printed only once: output ends up in logs, which more people read than the file.
  const shown = stored === undefined ? `${key.reveal()} (kept in ${keyFile})` : `in ${keyFile}`;
  process.stdout.write(`  key    ${shown}

Create a payment:
  curl --cacert ${caFile} ${httpsUrl}/api/v1/payments -H "Authorization: Bearer $(cat ${keyFile})" \\
    -H 'Content-Type: application/json' -d '{"product":"Tea","amount":1250,"currency":"EUR","callbackUrl":"http://127.0.0.1:9/"}'
`);
}

async function readKey(file: string): Promise<Secret | undefined> {
  try {
    return new Secret((await readFile(file, 'utf8')).trim());
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return undefined;
    throw error;
  }
}

main().catch((error: unknown) => {
  const isOurs = error instanceof StartupError;
  process.stderr.write(`${isOurs ? error.message : inspect(error)}\n`);
  process.exitCode = 1;
});
