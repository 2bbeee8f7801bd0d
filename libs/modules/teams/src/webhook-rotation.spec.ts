import { describe, expect, test } from 'vitest';
import { evolveTeam, decideTeam } from './team.ts';
import { rotationsMax, webhookSecretVersions, type WebhookRotation } from './webhook-rotation.ts';

const rotation = (changes: Partial<WebhookRotation> = {}): WebhookRotation => ({
  environment: 'production',
  formerUntil: 100,
  ...changes,
});

test.each<[string, WebhookRotation[], number, string[]]>([
  ['begin with the unnamed one', [], 200, ['']],
  ['are two until the overlap ends, the new one first', [rotation()], 99, ['1', '']],
  ['are one at its end', [rotation()], 100, ['1']],
  ['are not changed by the other environment', [rotation({ environment: 'sandbox' })], 50, ['']],
  ['of two rotations in one overlap: only the last former one', [rotation(), rotation()], 50, ['2', '1']],
  ['of a rotation after an overlap', [rotation(), rotation({ formerUntil: 300 })], 200, ['2', '1']],
])('the secrets of a team %s', (_, rotations, now, expected) => {
  expect(webhookSecretVersions(rotations, 'production', now)).toEqual(expected);
});

describe('a rotation', () => {
  const team = evolveTeam(undefined, { type: 'TeamAdded', data: { name: 'shop' } });
  const rotate = (state = team) =>
    decideTeam(state, { type: 'RotateWebhookSecret', environment: 'sandbox', formerUntil: 5 });

  test('is recorded', () => {
    const data = { environment: 'sandbox', formerUntil: 5 };
    expect(rotate()).toEqual({ kind: 'events', events: [{ type: 'WebhookSecretRotated', data }] });
  });

  test('is refused after a thousand', () => {
    const webhookRotations = Array.from({ length: rotationsMax }, () => rotation());
    expect(rotate({ ...team, webhookRotations })).toEqual({
      kind: 'refused',
      refusal: { code: 'too_many_rotations' },
    });
  });
});
