import type { Provider } from '@tollgate/core';
import { type Clock, currentRequest } from '@tollgate/service-kit';
import type { Metrics } from '../../edge/metrics/metrics.ts';

/** The provider of an account, with every call of it measured: those that move money, and inquiries. */
export function measureProvider(
  provider: Provider,
  account: { environment: string; name: string },
  { clock, metrics }: { clock: Pick<Clock, 'monotonic'>; metrics: Pick<Metrics, 'providerCall'> },
): Provider {
  const measured =
    (operation: string, call: (...values: unknown[]) => Promise<{ kind: string }>) =>
    async (...values: unknown[]) => {
      const startedAt = clock.monotonic();
      let kind = 'thrown';
      try {
        const outcome = await call(...values);
        ({ kind } = outcome);
        return outcome;
      } finally {
        const labels = { environment: account.environment, account: account.name, operation, outcome: kind };
        const tookMs = clock.monotonic() - startedAt;
        metrics.providerCall(labels, tookMs);
        const request = currentRequest();
        if (request !== undefined) request.providerMs += tookMs;
      }
    };
  const { close, ...calls } = provider;
  const measuredCalls = Object.entries(calls).map(([name, call]) => {
    const operation = name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
    return [name, measured(operation, call as Parameters<typeof measured>[1])];
  });
  return { ...(Object.fromEntries(measuredCalls) as typeof calls), close };
}
