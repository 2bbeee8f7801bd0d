import { createAuthority } from '@tollgate/provider/testing';
import { type Log, silentLog, dayMs } from '@tollgate/service-kit';
import { createFakeClock } from '@tollgate/testing';
import { expect, it } from 'vitest';
import { endOfCertificate } from '../configuration/tls.ts';
import { watchCertificate } from './certificate-watch.ts';
import { createMetrics } from './metrics/metrics.ts';

async function watched(daysBefore: number) {
  const { cert } = await createAuthority('gateway');
  const endsAt = endOfCertificate(cert);
  const metrics = createMetrics({ log: silentLog });
  const warnings: string[] = [];
  const log: Log = { ...silentLog, warn: (_fields, message) => void warnings.push(message) };
  watchCertificate({ clock: createFakeClock({ now: endsAt - daysBefore * dayMs }), log, metrics }, cert);
  return { warnings, endsAt, text: await metrics.text() };
}

it('warns at the start if a certificate expires within 21 days, or has expired', async () => {
  expect((await watched(22)).warnings).toEqual([]);
  for (const daysBefore of [20, -1]) {
    const { warnings, endsAt } = await watched(daysBefore);
    expect(warnings).toEqual([expect.stringContaining(new Date(endsAt).toISOString())]);
  }
});

it('reports the expiry as a metric', async () => {
  const { text, endsAt } = await watched(100);
  const [, seconds] = /^tollgate_certificate_ends_seconds (\S+)$/m.exec(text) ?? [];
  expect(Number(seconds)).toBe(endsAt / 1_000);
});
