/**
 * A process that makes announced calls: `node sending-process.fixture.ts <address> <file of the CA's certificate>`. For
 * each line on standard input it makes one that may be sent within 300 ms, and prints `sendBy outcome`.
 */
import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { type MaySend, createSender } from '@tollgate/core';
import { providers } from '@tollgate/provider';
import { Secret, silentLog, systemClock, startStopwatch } from '@tollgate/service-kit';

const [baseUrl = '', caFile = ''] = process.argv.slice(2);
const aggregate = { token: 'pay_1' };
const sender = createSender({
  stopping: new AbortController().signal,
  times: { sendWithinMs: 300 },
  quietPeriods: { observe: () => undefined },
  clock: systemClock,
  log: silentLog,
});

for await (const line of createInterface({ input: process.stdin })) {
  if (line !== 'call') throw new Error(`it is no command: ${line}`);
  const ca = readFileSync(caFile, 'utf8');
  const provider = providers['payment-service']({
    baseUrl,
    privateKey: new Secret('sk_sandbox_1'),
    ca,
    clock: systemClock,
  });
  const sendBy = systemClock.now() + 300;
  const window = { sendBy, answerBy: sendBy, quietUntil: sendBy };
  const permit = {
    account: 'main',
    environment: 'sandbox' as const,
    provider,
    ageMs: startStopwatch(systemClock),
    release: () => undefined,
    [Symbol.dispose]: () => undefined,
  };
  process.stdout.write(`announced ${sendBy}\n`);
  const ended = await sender.send({
    announced: { kind: 'done', aggregate, events: ['announced'] },
    operation: 'capture',
    window,
    permit,
    send: (_: unknown, maySend: MaySend) => provider.capture('token-1', maySend),
  });
  process.stdout.write(`ended ${ended.kind}\n`);
  await provider.close();
}
