/** Warns in time before the certificate of the API expires. */
import { type Clock, type Log, dayMs } from '@tollgate/service-kit';
import { endOfCertificate } from '../configuration/tls.ts';
import type { Metrics } from './metrics/metrics.ts';

const tellBeforeMs = 21 * dayMs;

/** @param cert PEM */
export function watchCertificate(
  { clock, log, metrics }: { clock: Clock; log: Log; metrics: Metrics },
  cert: string,
): void {
  const endsAt = endOfCertificate(cert);
  metrics.watch('tollgate_certificate_ends_seconds', () => endsAt / 1_000);
  if (endsAt - clock.now() >= tellBeforeMs) return;
  const end = new Date(endsAt).toISOString();
  log.warn({}, `the certificate that GATEWAY_TLS_CERT_FILE names expires at ${end}. Renew it and restart`);
}
