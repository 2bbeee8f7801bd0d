import { temporaryStore } from '@tollgate/event-store/testing';
import { systemClock, systemIds } from '@tollgate/service-kit';
import { expect, it } from 'vitest';
import { createSavedViews, savedViewSchema, savedViewsMax } from './saved-views.ts';

const ada = { person: 'ada', source: 'command-line' } as const;
const given = async () =>
  createSavedViews({ store: await temporaryStore(), clock: systemClock, ids: systemIds });

it('belong to one person, by name, in the order of their names', async () => {
  const saved = await given();
  await saved.save(ada, { name: 'later', query: 'phase=approved' });
  await saved.save(ada, { name: 'first', query: 'team=shop' });
  await saved.save(ada, { name: 'later', query: 'phase=declined' });
  const expected = [
    { name: 'first', query: 'team=shop' },
    { name: 'later', query: 'phase=declined' },
  ];
  expect(await saved.of(ada)).toEqual(expected);
  expect(await saved.of({ ...ada, person: 'bob' })).toEqual([]);
  // The same name from another source is another person.
  expect(await saved.of({ ...ada, source: 'oidc' })).toEqual([]);
  expect(await saved.remove(ada, 'first')).toEqual(expected.slice(1));
  expect(await saved.remove(ada, 'first')).toEqual(expected.slice(1));
});

it('saved concurrently are all kept, up to a limit', async () => {
  const saved = await given();
  const names = Array.from({ length: 8 }, (_, place) => `view ${place}`);
  await Promise.all(names.map((name) => saved.save(ada, { name, query: '' })));
  expect((await saved.of(ada)).map(({ name }) => name)).toEqual(names);
  for (let count = names.length; count < savedViewsMax; count += 1)
    await saved.save(ada, { name: `more ${count}`, query: '' });
  expect(await saved.save(ada, { name: 'one too many', query: '' })).toBeUndefined();
  expect(await saved.save(ada, { name: 'view 1', query: 'phase=init' })).toHaveLength(savedViewsMax);
});

it.each(['https://elsewhere.example', 'a b', '"><script>', '#x', '/../x', 'a'.repeat(1_001)])(
  'lead only to the list: not by %s',
  (query) => {
    expect(savedViewSchema.safeParse({ name: 'x', query }).success).toBe(false);
  },
);
