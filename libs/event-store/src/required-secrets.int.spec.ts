import { parseDataSecrets, systemClock, systemIds } from '@tollgate/service-kit';
import { expect, it } from 'vitest';
import { requireDataSecrets, retireDataSecret } from './required-secrets.ts';
import { temporaryStore } from './testing/temporary-store.ts';

const secretOf = (kid: string, letter = kid) => `${kid}:${letter.repeat(32)}`;

async function processes() {
  const store = await temporaryStore();
  const start = (...secrets: string[]) =>
    requireDataSecrets({ store, clock: systemClock, ids: systemIds }, parseDataSecrets(secrets.join(',')));
  return { store, start };
}

it('accepts the secrets of a new store, and the same ones again', async () => {
  const { start, store } = await processes();
  await start(secretOf('a'));
  await start(secretOf('a'));
  let count = 0;
  for await (const { data } of store.read('data-secrets')) {
    count += 1;
    expect(JSON.stringify(data)).not.toContain('aaaa');
  }
  expect(count).toBe(1);
});

it('refuses to start without a secret of the store, or with a different one of its name', async () => {
  const { start } = await processes();
  await start(secretOf('a'));
  await expect(start(secretOf('b'))).rejects.toThrow(/written with the data secret a, .* lacks it/);
  await expect(start(secretOf('a', 'z'))).rejects.toMatchObject({ code: 'data_secret_differs' });
  await expect(start(secretOf('b'), secretOf('a', 'z'))).rejects.toMatchObject({
    code: 'data_secret_differs',
  });
});

it('continues with a new secret in addition to the earlier ones, and needs both from then on', async () => {
  const { start } = await processes();
  await start(secretOf('a'));
  await start(secretOf('b'), secretOf('a'));
  await start(secretOf('a'), secretOf('b'));
  await expect(start(secretOf('a'))).rejects.toMatchObject({ code: 'data_secret_missing' });
});

it('lets one of two different secrets start a store', async () => {
  const { start } = await processes();
  const ends = await Promise.allSettled([start(secretOf('a')), start(secretOf('b'))]);
  expect(ends.filter(({ status }) => status === 'rejected')).toMatchObject([
    { reason: { code: 'data_secret_missing' } },
  ]);
});

it('does not need a retired secret, unless it is used again', async () => {
  const { store, start } = await processes();
  await start(secretOf('a'));
  await start(secretOf('b'), secretOf('a'));
  await retireDataSecret({ store, clock: systemClock, ids: systemIds }, 'a');
  await start(secretOf('b'));
  await start(secretOf('a'), secretOf('b'));
  await expect(start(secretOf('b'))).rejects.toMatchObject({ code: 'data_secret_missing' });
});
