import { hourMs } from '@tollgate/service-kit';
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

it('shows how long creations took, the gateway and the Payment Service apart, within a tenth', () => {
  const { pulse, note } = start();
  for (let ms = 1; ms <= 100; ms += 1) note(ms + 50, 50);
  const last = pulse.hours().at(-1);
  const within = (value: number | undefined, expected: number) => {
    expect(value).toBeGreaterThanOrEqual(expected * 0.95);
    expect(value).toBeLessThanOrEqual(expected * 1.15);
  };
  within(last?.ownMs.p50, 50);
  within(last?.ownMs.p99, 99);
  within(last?.providerMs?.p50, 50);
});

it('counts no other request as a creation', () => {
  const { pulse, note } = start();
  note(5, 0, 200, '/api/v1/payments', 'GET');
  note(5, 0, 200, '/api/v1/refunds');
  expect(pulse.hours()).toEqual([]);
  note(5, 0, 409);
  expect(pulse.hours()).toHaveLength(1);
  expect(pulse.hours()[0]).not.toHaveProperty('providerMs');
});

it('keeps a day, also if the clock is set back', async () => {
  const { clock, pulse, note } = start();
  note(5);
  await clock.advance(23 * hourMs);
  note(5);
  expect(pulse.hours()).toHaveLength(2);
  await clock.advance(hourMs);
  note(5);
  expect(pulse.hours()).toHaveLength(2);
});
