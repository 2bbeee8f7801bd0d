/**
 * Tells teams what becomes of their payments and payouts: follows these, records what is due, and delivers it until the
 * team has taken it. Both halves go on where a former run has stopped. Two processes that run this at once lose nothing; a
 * team may then get a webhook twice, under one id.
 */
import type { EventStore } from '@tollgate/event-store';
import { given, type Clock, type Ids, type Log, type WebhookMasterSecret } from '@tollgate/service-kit';
import { createAddressGuard } from './address-guard.ts';
import { dispatchWebhooks } from './dispatcher.ts';
import { recordDueWebhooks } from './due-recorder.ts';
import { createWebhookClient } from './http-client.ts';
import { createResolve, type Resolve } from './name-resolver.ts';
import { createWebhookJournal } from './webhook-journal.ts';
import { limitsDefault, type Limits } from './turns.ts';

export interface NotifierDependencies {
  store: EventStore;
  clock: Clock;
  ids: Ids;
  log: Log;
  /** The masters of the teams' secrets: one, or two during a rotation. */
  secrets: readonly WebhookMasterSecret[];
  /** Whether a team's entry in the directory allows an address, asked at every try. */
  isCallbackAllowed: (team: string, url: string) => boolean;
  /** A certificate authority (PEM) to trust besides the public ones. */
  trustedCa?: string;
  /** Networks (CIDR) of our own that teams have receivers in; without them only public addresses are called. */
  allowedNetworks?: readonly string[];
  /** How names become addresses; by the system's name servers unless given. */
  resolve?: Resolve;
  limits?: Limits;
}

/** Pause after a failure of the store, milliseconds; doubled up to the second, until something works again. */
const firstPauseMs = 200;
const longestPauseMs = 30_000;
/** Whoever worked for so long has recovered from the failure before. */
const recoveredAfterMs = 60_000;

/** Runs until the signal is aborted. Never rejects: what fails is logged and begun again. */
export async function runNotifier(deps: NotifierDependencies, signal: AbortSignal): Promise<void> {
  const { limits = limitsDefault, resolve = createResolve(), trustedCa } = deps;
  const guard = createAddressGuard(resolve, deps.allowedNetworks);
  const { lookup } = guard;
  const connectionsPerOrigin = limits.perOrigin;
  const client = createWebhookClient({ lookup, connectionsPerOrigin, ...given({ trustedCa }) });
  const journal = createWebhookJournal(deps);
  const parts = { ...deps, limits, journal, client, guard };
  try {
    await Promise.all([
      again(deps, signal, () => recordDueWebhooks(parts, signal)),
      again(deps, signal, () => dispatchWebhooks(parts, signal)),
    ]);
  } finally {
    await client.close();
  }
}

async function again(
  { clock, log }: NotifierDependencies,
  signal: AbortSignal,
  work: () => Promise<void>,
): Promise<void> {
  let pauseMs = firstPauseMs;
  while (!signal.aborted) {
    const startedAt = clock.monotonic();
    try {
      await work();
    } catch (error) {
      if (clock.monotonic() - startedAt > recoveredAfterMs) pauseMs = firstPauseMs;
      log.error({ error, waitMs: pauseMs }, 'notifying teams failed; it resumes');
      await clock.sleep(pauseMs, signal).catch(() => undefined);
      pauseMs = Math.min(pauseMs * 2, longestPauseMs);
    }
  }
}
