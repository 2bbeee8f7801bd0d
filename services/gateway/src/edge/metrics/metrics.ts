/**
 * The metrics, in the Prometheus format. Every label has few values, all from our own sets: names of accounts and
 * routes, never a path, token, team, order number or address.
 */
import type { Log } from '@tollgate/service-kit';
import { Counter, Gauge, Histogram, Registry, collectDefaultMetrics } from '@prometheus-io/client';

/** A value of a gauge, with its labels. */
export interface Reading {
  labels?: Readonly<Record<string, string>>;
  value: number;
}

/** One value without labels, or several. An unknown value is left out; true is 1. */
export type Read = number | boolean | undefined | readonly Reading[];
export type ReadGauge = () => Read | Promise<Read>;

interface RequestLabels {
  method: string;
  /** As the route was written: `/api/v1/payments/:token`. */
  route: string;
  /** `2xx` and so on. */
  status: string;
}

interface ProviderCallLabels {
  environment: string;
  account: string;
  /** Name of the client's function. */
  operation: string;
  outcome: string;
}

export type Metrics = ReturnType<typeof createMetrics>;

/** The help text and the labels of each gauge. */
const gauges = {
  tollgate_account_breaker: [
    'State of the circuit breaker of each account: 1 for the current state',
    'environment',
    'account',
    'state',
  ],
  tollgate_account_state: [
    'Operator state of each account (active, draining, paused): 1 for the current state',
    'environment',
    'account',
    'state',
  ],
  tollgate_account_calls_under_way: ['Money-moving calls in flight', 'environment', 'account'],
  tollgate_account_waiting: ['Callers waiting for a permit of the account', 'environment', 'account'],
  tollgate_inquiry_overdue_seconds: [
    'Lag of the oldest due inquiry of the shards of this process; 0 if none is due',
    'state',
  ],
  tollgate_certificate_ends_seconds: [
    'Expiry of the TLS certificate of the API, seconds since the Unix epoch; absent without HTTPS',
  ],
  tollgate_pending_inquiries: [
    'Payments and payouts on the inquiry schedule: unresolved (a call without a known outcome) or open',
    'kind',
    'state',
  ],
  tollgate_open_reviews: ['Open reviews', 'kind', 'environment'],
  tollgate_overdrawn_wallets: [
    'Wallets whose available balance in a merchant account and currency is negative',
    'environment',
  ],
  tollgate_reconciliation_last_complete_day: [
    'Start of the last fully reconciled day, seconds since the Unix epoch; absent while another instance reconciles',
    'environment',
    'account',
  ],
  tollgate_reconciliation_differences: [
    'Differences found by the latest runs of today and the two previous days; absent while another instance reconciles',
    'environment',
    'account',
  ],
  tollgate_read_model_lag_seconds: ['Age of the oldest event that reads do not show; 0 if caught up'],
  tollgate_unsigned_team_events: [
    'Unsigned team events, ignored. Above 0, another program writes to the store.',
  ],
  tollgate_suspect_team_streams: ['Streams of teams with unsigned or unreadable events'],
  tollgate_webhook_endpoints: [
    'Standing webhook endpoints of teams, enabled or disabled; absent while another instance notifies',
    'status',
  ],
  tollgate_publisher_lag_seconds: [
    'Lag of the topics behind the events; absent while another instance publishes',
  ],
  tollgate_publisher_advancing: [
    '1 if the publisher makes progress, else 0; absent while another instance publishes',
  ],
  tollgate_publisher_failed_streams: [
    'Streams with an event that could not be published; absent while another instance publishes',
  ],
  tollgate_projector_advancing: [
    '1 if the projector makes progress, else 0; absent while another instance projects',
  ],
  tollgate_projector_failed_streams: [
    'Streams with an event that the projector could not apply; absent while another instance projects',
  ],
  tollgate_projector_count_differences: [
    'Comparisons with an index that found a different number of events; absent while another instance projects',
  ],
  tollgate_index_count_differences: [
    'Comparisons with the projector that found a different number of events; above 0, the index was rebuilt',
  ],
  tollgate_index_quarantined_streams: ['Streams with an event that the index could not apply'],
} as const satisfies Record<string, readonly [help: string, ...labels: string[]]>;
export type GaugeName = keyof typeof gauges;

/** Bounds of buckets, seconds: from an answer from memory to one at the deadline. */
const buckets = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];

/**
 * The library's metrics with misleading names: gauges named like counters, and types in names. `promtool check
 * metrics` warns about each.
 */
const misnamed = [
  ...['nodejs_active_handles_total', 'nodejs_active_requests_total', 'nodejs_active_resources_total'],
  ...['nodejs_eventloop_utilization_histogram', 'nodejs_eventloop_utilization_summary'],
];

/** The longest interval of a timer. */
const intervalMaxMs = 2 ** 31 - 1;

/** With its own registry, so that there may be several in one process. */
export function createMetrics({ log }: { log: Log }) {
  const registry = new Registry();
  // It would run forever, ten times a second, for metrics that are removed below.
  collectDefaultMetrics({ register: registry, eventLoopUtilizationTimeout: intervalMaxMs });
  for (const name of misnamed) registry.removeSingleMetric(name);
  const registers = [registry];
  const requests = new Histogram({
    name: 'tollgate_http_request_duration_seconds',
    help: 'Answered requests to the API',
    labelNames: ['method', 'route', 'status'] as const,
    buckets,
    registers,
  });
  const providerCalls = new Histogram({
    name: 'tollgate_provider_call_duration_seconds',
    help: 'Completed calls to the Payment Service',
    labelNames: ['environment', 'account', 'operation', 'outcome'] as const,
    buckets,
    registers,
  });
  const callbacks = new Counter({
    name: 'tollgate_callbacks_total',
    help: 'Requests to the callback server by status; 200 is an accepted callback',
    labelNames: ['status'] as const,
    registers,
  });
  const refusedRequests = new Counter({
    name: 'tollgate_refused_requests_total',
    help: 'Rejected requests by error code: missing, unknown or expired key, other network, missing scope',
    labelNames: ['code'] as const,
    registers,
  });

  return {
    /** A request to the API that was answered, milliseconds. */
    request: (labels: RequestLabels, durationMs: number): void =>
      requests.observe({ ...labels }, durationMs / 1_000),
    /** A call to the Payment Service that has ended, milliseconds. */
    providerCall: (labels: ProviderCallLabels, durationMs: number): void =>
      providerCalls.observe({ ...labels }, durationMs / 1_000),
    /** A request to the callback server that was answered. */
    callback: (statusCode: number): void => callbacks.inc({ status: String(statusCode) }),
    /** A request that was not let in. */
    refusedRequest: (code: string): void => refusedRequests.inc({ code }),
    /** Reads a gauge at each scrape. */
    watch: (gauge: GaugeName, read: ReadGauge): void => addGauge(gauge, read),
    /** Everything, in Prometheus' text format. */
    text: (): Promise<string> => registry.metrics(),
    contentType: registry.contentType,
  };

  function addGauge(name: GaugeName, read: ReadGauge): void {
    const [help, ...labelNames] = gauges[name];
    const gauge = new Gauge({
      name,
      registers,
      help,
      labelNames,
      async collect() {
        // The old value is outdated, even if the new one is unknown.
        gauge.reset();
        if (labelNames.length === 0) gauge.remove();
        for (const { labels = {}, value } of await readings()) gauge.set({ ...labels }, value);
      },
    });
    async function readings(): Promise<readonly Reading[]> {
      try {
        const found = await read();
        if (found === undefined) return [];
        return typeof found === 'object' ? found : [{ value: Number(found) }];
      } catch (error) {
        log.warn({ error, operation: name }, 'a gauge could not be read; it is omitted');
        return [];
      }
    }
  }
}
