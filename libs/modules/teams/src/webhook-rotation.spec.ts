import { describe, expect, test } from 'vitest';
import { evolveTeam, decideTeam, type TeamState } from './team.ts';
import { rotationsMax, webhookSecretVersions, type WebhookRotation } from './webhook-rotation.ts';

const shop = 'https://shop.example';
const endpoint = { environment: 'production', origin: shop };
const rotation = (changes: Partial<WebhookRotation> = {}): WebhookRotation => ({
  environment: 'production',
  formerUntil: 100,
  ...changes,
});
const versions = (rotations: readonly WebhookRotation[], now = 200) =>
  webhookSecretVersions(rotations, endpoint, now);

describe('the secrets of an endpoint', () => {
  test('begin with the unnamed one', () => expect(versions([])).toEqual(['']));

  test('are two until the overlap ends, the new one first', () => {
    expect(versions([rotation()], 99)).toEqual(['1', '']);
    expect(versions([rotation()], 100)).toEqual(['1']);
  });

  test('are not changed by rotations of other endpoints and the other environment', () => {
    const others = [rotation({ origin: 'https://other.example' }), rotation({ environment: 'sandbox' })];
    expect(versions(others, 50)).toEqual(['']);
    expect(webhookSecretVersions(others, { environment: 'production', origin: undefined }, 50)).toEqual(['']);
  });

  test('never repeat, in any order of rotations', () => {
    const steps = [{}, { origin: shop }, { origin: shop }, {}, { origin: shop }, {}].map(rotation);
    const currents = steps.map((_, count) => versions(steps.slice(0, count + 1))[0]);
    expect(new Set(['', ...currents]).size).toBe(steps.length + 1);
  });

  test('of two rotations within one overlap, only the last former one signs', () => {
    const twice = [rotation(), rotation({ formerUntil: 150 })];
    expect(versions(twice, 50)).toEqual(['2', '1']);
  });
});

describe('a rotation', () => {
  const team = evolveTeam(undefined, { type: 'TeamAdded', data: { name: 'shop' } });
  const rotate = (origin?: string, state: TeamState = team) =>
    decideTeam(state, {
      type: 'RotateWebhookSecret',
      environment: 'sandbox',
      formerUntil: 5,
      ...(origin === undefined ? {} : { origin }),
    });

  test('is recorded, for all endpoints or one origin in canonical form', () => {
    const data = { environment: 'sandbox', formerUntil: 5 };
    expect(rotate()).toEqual({ kind: 'events', events: [{ type: 'WebhookSecretRotated', data }] });
    expect(rotate('https://SHOP.example:443')).toEqual({
      kind: 'events',
      events: [{ type: 'WebhookSecretRotated', data: { ...data, origin: shop } }],
    });
  });

  test.each(['http://shop.example', 'http://localhost:*', 'https://shop.example/hook'])(
    'of %s is refused',
    (origin) =>
      expect(rotate(origin)).toEqual({ kind: 'refused', refusal: { code: 'origin_invalid', origin } }),
  );

  test('is refused after a thousand', () => {
    const webhookRotations = Array.from({ length: rotationsMax }, () => rotation());
    expect(rotate(undefined, { ...team, webhookRotations })).toEqual({
      kind: 'refused',
      refusal: { code: 'too_many_rotations' },
    });
  });
});
