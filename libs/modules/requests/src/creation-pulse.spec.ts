import { createFakeClock } from '@tollgate/testing';
import { expect, it } from 'vitest';
import { createCreationPulse } from './creation-pulse.ts';

function start() {
  const clock = createFakeClock();
  const pulse = createCreationPulse(clock);
  const note = (
    durationMs: number,
    providerMs = 0,
    status = 200,
    route = '/api/v1/payments',
    method = 'POST',
  ) => pulse.note({ method, route, status, durationMs, providerMs });
  return { clock, pulse, note };
}

it('counts creations and measures their durations, total and at the provider, within a tenth', () => {
  const { pulse, note } = start();
  for (let ms = 1; ms <= 100; ms += 1) note(ms + 50, 50);
  const last = pulse.minutes().at(-1);
  expect(last).toMatchObject({ created: 100 });
  const within = (value: number | undefined, expected: number) => {
    expect(value).toBeGreaterThanOrEqual(expected * 0.95);
    expect(value).toBeLessThanOrEqual(expected * 1.15);
  };
  within(last?.ownMs?.p50, 50);
  within(last?.ownMs?.p99, 99);
  within(last?.providerMs?.p50, 50);
});

it('ignores other requests, and refused creations', () => {
  const { pulse, note } = start();
  note(5, 0, 200, '/api/v1/payments', 'GET');
  note(5, 0, 200, '/api/v1/refunds');
  expect(pulse.minutes().at(-1)).toEqual({ minute: expect.any(Number), created: 0 });
  note(5, 0, 409);
  expect(pulse.minutes().at(-1)).toMatchObject({ created: 0, ownMs: { p50: expect.any(Number) } });
  expect(pulse.minutes().at(-1)).not.toHaveProperty('providerMs');
});

it('keeps an hour, even if the clock is set back', async () => {
  const { clock, pulse, note } = start();
  note(5);
  await clock.advance(59 * 60_000);
  note(5);
  const hour = pulse.minutes();
  expect(hour).toHaveLength(60);
  expect([hour[0]?.created, hour.at(-1)?.created]).toEqual([1, 1]);
  await clock.advance(60_000);
  note(5);
  expect(
    pulse
      .minutes()
      .map(({ created }) => created)
      .filter((count) => count > 0),
  ).toEqual([1, 1]);
});
