/** Runs the Payment Service alone: `node services/payment-service/src/main.ts`. */
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
import { createPaymentService } from './payment-service.ts';

const demoMerchant = 'demo';
const keyFileName = 'payment-service-key';

async function main(): Promise<void> {
  const { logLevel, ...config } = readConfig(paymentServiceConfigSchema, process.env);
  // Logs go to standard error: standard output is for what a person or a script reads.
  const log = createLog('payment-service', logLevel, process.stderr);
  const service = createPaymentService({ config, clock: systemClock, ids: systemIds, log });
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => void service.stop());

  const { httpsUrl, httpUrl, caFile } = await service.start();
  const keyFile = join(config.dataDir, keyFileName);
  const stored = await readKey(keyFile);
  const { key } = await service.ensureMerchant({
    name: demoMerchant,
    ...(stored === undefined ? {} : { key: stored }),
  });
  if (stored === undefined) await writeFile(keyFile, `${key.reveal()}\n`, { mode: 0o600 });
  process.stdout.write(`Payment Service (sandbox)
  HTTPS  ${httpsUrl}
  HTTP   ${httpUrl} (rejects everything)
  key    ${key.reveal()} (kept in ${keyFile})
  CA     ${caFile}

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
