/** The gauges: read from the services at each scrape, so that they cost nothing in between. */
import { type Accounts, inquiryNeeds } from '@tollgate/core';
import type { ReconciliationHealth } from '@tollgate/reconciliation';
import type { PublisherHealth } from '@tollgate/topics';
import { type EventStore, lagSeconds } from '@tollgate/event-store';
import type { EndpointCount } from '@tollgate/webhooks';
import { type ProjectorHealth, foldedPrefixes } from '@tollgate/views';
import { type PaymentIndex } from '@tollgate/lists';
import type { TeamDirectory } from '@tollgate/teams';
import type { Clock } from '@tollgate/service-kit';
import type { Metrics } from '../../edge/metrics/metrics.ts';
import { type AccountHealth, accountStates } from '@tollgate/accounts';
import type { InquiryScheduleHealth } from '@tollgate/inquiry-schedule';

type Watch = Pick<Metrics, 'watch'>;
type WatchedIndex = Pick<PaymentIndex, 'workload' | 'position' | 'differences' | 'quarantined'>;

const breakerStates: readonly AccountHealth['breaker'][] = ['closed', 'open', 'half-open'];

export function watchAccounts({ watch }: Watch, accounts: Pick<Accounts, 'health'>): void {
  const eachAccount = (valueOf: (health: AccountHealth) => number) => () =>
    accounts.health().map((health) => ({ labels: labelsOf(health), value: valueOf(health) }));
  const eachState = (states: readonly string[], stateOf: (health: AccountHealth) => string) => () =>
    accounts.health().flatMap((health) =>
      states.map((state) => ({
        labels: { ...labelsOf(health), state },
        value: state === stateOf(health) ? 1 : 0,
      })),
    );
  const callsUnderWay = eachAccount((health) => health.callsUnderWay);
  watch('tollgate_account_calls_under_way', callsUnderWay);
  const waiting = eachAccount((health) => health.waiting);
  watch('tollgate_account_waiting', waiting);
  const breaker = eachState(breakerStates, (health) => health.breaker);
  watch('tollgate_account_breaker', breaker);
  const state = eachState(accountStates, (health) => health.state);
  watch('tollgate_account_state', state);
}

/** Age of the oldest due item, in the shards of this process. */
export function watchSchedule({ watch }: Watch, health: () => InquiryScheduleHealth): void {
  watch('tollgate_inquiry_overdue_seconds', () => {
    const { overdueMs } = health();
    return inquiryNeeds.map((state) => ({ labels: { state }, value: overdueMs[state] / 1_000 }));
  });
}

const labelsOf = ({ environment, account }: AccountHealth) => ({ environment, account });

/** @param health undefined while another instance reconciles */
export function watchReconciliations(
  { watch }: Watch,
  health: () => readonly ReconciliationHealth[] | undefined,
): void {
  watch('tollgate_reconciliation_last_complete_day', () =>
    (health() ?? []).flatMap(({ environment, account, lastCompleteDay }) =>
      lastCompleteDay === undefined
        ? []
        : [{ labels: { environment, account }, value: Date.parse(lastCompleteDay) / 1_000 }],
    ),
  );
  watch('tollgate_reconciliation_differences', () =>
    (health() ?? []).map(({ environment, account, differences }) => ({
      labels: { environment, account },
      value: differences,
    })),
  );
}

/** Open work, open reviews, and the lag of reads. */
export function watchIndex(
  { watch }: Watch,
  { store, clock, index }: { store: Pick<EventStore, 'subscribe'>; clock: Clock; index: WatchedIndex },
): void {
  watch('tollgate_pending_inquiries', () =>
    index
      .workload()
      .open.map(({ kind, inquiryNeed: state, count }) => ({ labels: { kind, state }, value: count })),
  );
  watch('tollgate_open_reviews', () => {
    const { reviews } = index.workload();
    return (['payment', 'payout', 'unmatched'] as const).flatMap((kind) =>
      (['sandbox', 'production'] as const).map((environment) => ({
        labels: { kind, environment },
        value: reviews.find((each) => each.kind === kind && each.environment === environment)?.count ?? 0,
      })),
    );
  });
  watch('tollgate_overdrawn_wallets', () => {
    const { overdrawn } = index.workload();
    return (['sandbox', 'production'] as const).map((environment) => ({
      labels: { environment },
      value: overdrawn.find((each) => each.environment === environment)?.count ?? 0,
    }));
  });
  watch('tollgate_index_count_differences', () => index.differences());
  watch('tollgate_index_quarantined_streams', () => index.quarantined().length);
  watch('tollgate_read_model_lag_seconds', () =>
    lagSeconds({ store, clock }, { from: index.position(), prefixes: foldedPrefixes }),
  );
}

/** @param health undefined while another instance projects */
export function watchProjector({ watch }: Watch, health: () => ProjectorHealth | undefined): void {
  watch('tollgate_projector_advancing', () => health()?.isAdvancing);
  watch('tollgate_projector_failed_streams', () => health()?.failedStreams.length);
  watch('tollgate_projector_count_differences', () => health()?.differences);
}

export function watchTeams({ watch }: Watch, { health }: Pick<TeamDirectory, 'health'>): void {
  watch('tollgate_unsigned_team_events', () => health().unsignedEvents);
  watch('tollgate_suspect_team_streams', () => health().suspectStreams.length);
}

/** @param count undefined while another instance notifies */
export function watchEndpoints({ watch }: Watch, count: () => EndpointCount | undefined): void {
  watch('tollgate_webhook_endpoints', () =>
    Object.entries<number>(count() ?? {}).map(([status, value]) => ({ labels: { status }, value })),
  );
}

/** @param health undefined while another instance publishes */
export function watchPublisher({ watch }: Watch, health: () => PublisherHealth | undefined): void {
  watch('tollgate_publisher_lag_seconds', () => seconds(health()?.lagMs));
  watch('tollgate_publisher_advancing', () => health()?.isAdvancing);
  watch('tollgate_publisher_failed_streams', () => health()?.failedStreams.length);
}

const seconds = (durationMs: number | undefined): number | undefined =>
  durationMs === undefined ? undefined : durationMs / 1_000;
