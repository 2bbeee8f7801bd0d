import { createFingerprints, recurringStream, recurringTokenContext } from '@tollgate/core';
import { temporaryStore } from '@tollgate/event-store/testing';
import { createVault, parseDataSecrets, systemIds } from '@tollgate/service-kit';
import { createFakeClock } from '@tollgate/testing';
import { expect, it } from 'vitest';
import { runWith, toolsWith } from './testing/run-with.ts';
import { requireDataSecrets } from '@tollgate/event-store';

const [old, recent] = [`k1:${'x'.repeat(32)}`, `k2:${'y'.repeat(32)}`];

/** A store with a recurring token under `k1`, and the command line with these secrets. */
async function start() {
  const store = await temporaryStore();
  const deps = { store, clock: createFakeClock(), ids: systemIds };
  const before = parseDataSecrets(old);
  await requireDataSecrets(deps, before);
  const stream = recurringStream('rec_1');
  const vault = createVault(before, systemIds);
  const owner = { environment: 'sandbox' as const, team: 'shop', account: 'main', paymentToken: 'pay_1' };
  const sealedRecurringToken = vault.seal('service-token', recurringTokenContext(stream, owner));
  const data = { ...owner, sealedRecurringToken };
  await store.append(
    stream,
    [{ id: systemIds.uuid(), type: 'RecurringTokenStored', data, metadata: {} }],
    'any',
  );
  const run = (command: string, secrets = `${recent},${old}`) =>
    runWith(toolsWith({ ...deps, dataSecrets: () => parseDataSecrets(secrets) }), command);
  return { run, deps };
}

it('secrets rewrap re-encrypts data of an earlier secret, once', async () => {
  const { run } = await start();
  for (const rewrapped of [1, 0])
    expect(await run('--json secrets rewrap')).toEqual({
      exitCode: 0,
      error: '',
      out: `${JSON.stringify({ kid: 'k2', rewrapped })}\n`,
    });
});

it('secrets retire makes an earlier secret unnecessary, and reports the consequences first', async () => {
  const { run, deps } = await start();
  expect(await run('secrets retire k1')).toMatchObject({ exitCode: 1, out: '' });
  expect(await run('--json secrets retire k1 --yes')).toMatchObject({
    exitCode: 0,
    out: '{"retired":"k1","rewrapped":1}\n',
  });
  await requireDataSecrets(deps, parseDataSecrets(recent));
  expect(createFingerprints(parseDataSecrets(recent))({}).earlierFingerprints).toEqual([]);
});

it.each([
  ['secrets retire k2 --yes', 'Put another secret first'],
  ['secrets retire k3 --yes', 'DATA_SECRETS lacks k3'],
])('refuses %j', async (command, message) => {
  const { run } = await start();
  const result = await run(command);
  expect(result).toMatchObject({ exitCode: 1, out: '' });
  expect(result.error).toContain(message);
});

it('refuses to rewrap without a required secret', async () => {
  const { run } = await start();
  const result = await run('secrets rewrap', recent);
  expect(result).toMatchObject({ exitCode: 1 });
  expect(result.error).toContain('written with the data secret k1');
});
