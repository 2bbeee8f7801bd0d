/** `ledger verify` on an index file. */
import { DatabaseSync } from 'node:sqlite';
import { createPaymentIndex } from '@tollgate/lists';
import { temporaryFile, temporaryStore } from '@tollgate/event-store/testing';
import { silentLog, systemClock, systemIds } from '@tollgate/service-kit';
import { appendPayment, happening, requested } from '@tollgate/views/testing';
import { expect, it } from 'vitest';
import { runWith, toolsWith } from './testing/run-with.ts';

/** A payment of 15.00 EUR in an index whose file can be changed. */
async function given(change?: string) {
  const store = await temporaryStore();
  const indexFile = await temporaryFile();
  await appendPayment(store, 'pay_1', [requested(), happening.accepted, happening.approved]);
  const parts = { store, clock: systemClock };
  const index = createPaymentIndex({ ...parts, file: indexFile, log: silentLog, ids: systemIds });
  await index.start();
  await index.stop();
  const database = new DatabaseSync(indexFile);
  if (change !== undefined) database.exec(change);
  database.close();
  const tools = toolsWith({
    ...parts,
    directory: { indexFile } as never,
    stopSignal: () => new AbortController().signal,
  });
  return tools;
}

async function verify(change?: string) {
  const tools = await given(change);
  const ran = await runWith(tools, 'ledger verify');
  return { ...ran, json: JSON.parse((await runWith(tools, 'ledger verify --json')).out) as unknown };
}

it('exits with 0 if the balances of the index match the events', async () => {
  const { exitCode, out, json } = await verify();
  expect([exitCode, out]).toEqual([
    0,
    expect.stringMatching(/^3 events read.*The index has the same balances\.\n$/),
  ]);
  expect(json).toEqual({ events: 3, unbalanced: [], differences: [] });
});

it.each([
  [
    'another balance',
    "UPDATE balances SET amount = '1400' WHERE ledger_account = 'available'",
    '1400, and 1500',
  ],
  ['a missing balance', "DELETE FROM balances WHERE ledger_account = 'available'", '0, and 1500'],
])('exits with 1 and names the account if the index has %s', async (_name, change, difference) => {
  const { exitCode, out, json } = await verify(change);
  expect(exitCode).toBe(1);
  expect(out).toMatch(new RegExp(`sandbox team-shop .*EUR available: ${difference} by the events`));
  expect(out).toMatch(/Delete index\.db while its process is stopped/);
  expect(json).toMatchObject({
    events: 3,
    unbalanced: [],
    differences: [expect.stringContaining('available')],
  });
});
