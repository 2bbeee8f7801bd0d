import { expect, it } from 'vitest';
import { recordIdOf } from './record-codec.ts';

const cause = '0190b3a4-0000-4000-8000-000000000001';

it('the id of a record is the one that it has always been: the next version recognises what this one wrote', () => {
  expect(recordIdOf('gateway.payments.v1', cause)).toBe('71ca9d56-7e52-8119-8421-67d6c621c230');
});

it('the id of a record is a UUID, and another one for another topic or cause', () => {
  const ids = [
    recordIdOf('gateway.payments.v1', cause),
    recordIdOf('gateway.payouts.v1', cause),
    recordIdOf('gateway.payments.v1', ''),
    recordIdOf('', `gateway.payments.v1${cause}`),
  ];
  for (const id of ids)
    expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  expect(new Set(ids).size).toBe(ids.length);
});
