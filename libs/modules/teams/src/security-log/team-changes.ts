/**
 * Copies the events of teams into the security log: each once, in order, from any writer, at any time. Several processes may do
 * so concurrently: the second one finds the entry, and writes none.
 */
import { type EventStore, type RecordedEvent, beginning } from '@tollgate/event-store';
import { type Actor, eventMetadataSchema } from '@tollgate/core';
import { type Clock, type Log, omitUndefined } from '@tollgate/service-kit';
import type { TeamVerifier } from '../signing/signed-events.ts';
import { type Team, type TeamEvent, type TeamState, decodeTeamEvent, teamStreamPrefix } from '../team.ts';
import { approvalKeyOf, limitKeyOf } from '../money-settings.ts';
import { type SignedTeam, evolveSigned, noTeam } from '../teams.ts';
import type { SecurityEntry, SecurityLog } from './security-log.ts';

interface TeamChangesDependencies {
  store: EventStore;
  securityLog: SecurityLog;
  verifier: TeamVerifier;
}

/** Entries of one append. */
const batchMax = 100;

/**
 * @param signal ends it; without one it ends when everything present was copied
 * @throws StoreUnavailable
 */
export async function recordTeamChanges(
  { store, securityLog, verifier }: TeamChangesDependencies,
  signal?: AbortSignal,
): Promise<void> {
  const known = await securityLog.teamsUpTo();
  const toEntry = entriesWith(verifier);
  const ending = signal ?? new AbortController().signal;
  let batch: SecurityEntry[] = [];
  const write = async () => {
    if (batch.length > 0) await securityLog.record(batch);
    batch = [];
  };
  for await (const item of store.subscribe({
    from: beginning,
    prefixes: [teamStreamPrefix],
    signal: ending,
  })) {
    if (item.kind === 'caught-up') {
      await write();
      if (signal === undefined) return;
      continue;
    }
    const entry = toEntry(item);
    if (item.position > known) batch.push(entry);
    if (batch.length >= batchMax) await write();
  }
}

const afterFailureMs = 5_000;

/** Until the signal is aborted. Never rejects. */
export async function followTeamChanges(
  deps: TeamChangesDependencies & { clock: Clock; log: Log },
  signal: AbortSignal,
): Promise<void> {
  while (!signal.aborted) {
    await recordTeamChanges(deps, signal).catch((error: unknown) =>
      deps.log.warn({ error }, 'team changes cannot be copied to the security log; retrying'),
    );
    await deps.clock.sleep(afterFailureMs, signal).catch(() => undefined);
  }
}

const unknownCause: Actor = { kind: 'service', name: 'unknown' };

function entriesWith(verifier: TeamVerifier): (recorded: RecordedEvent) => SecurityEntry {
  const teams = new Map<string, SignedTeam>();
  return (recorded) => {
    const { stream, revision, position: ofTeamsAt } = recorded;
    const rejected = (reason: 'not_signed' | 'damaged'): SecurityEntry => ({
      event: { type: 'TeamEventRejected', data: { stream, revision, reason } },
      actor: unknownCause,
      ofTeamsAt,
    });
    try {
      const before = teams.get(stream) ?? noTeam;
      const { state, verdict } = evolveSigned(verifier, before, recorded);
      if (verdict === 'unsigned') return rejected('not_signed');
      teams.set(stream, state);
      return { ...toTeamChanged(recorded, before.team, state.signature ?? ''), ofTeamsAt };
    } catch {
      return rejected('damaged');
    }
  };
}

function toTeamChanged(recorded: RecordedEvent, teamBefore: TeamState, signature: string): SecurityEntry {
  const { stream, revision, type, data, metadata } = recorded;
  const { secretHash: _, ...detail } = Object(data) as Record<string, unknown>;
  const team = stream.slice(teamStreamPrefix.length);
  const actor = eventMetadataSchema.safeParse(metadata).data?.actor ?? unknownCause;
  const before = teamBefore && replacedBy(teamBefore, decodeTeamEvent(recorded));
  const change = { team, stream, revision, change: type, detail, signature, ...omitUndefined({ before }) };
  return { event: { type: 'TeamChanged', data: change }, actor };
}

/** The setting of the team that an event replaces. */
function replacedBy(
  { money, allowedOrigins }: Team,
  { type, data }: TeamEvent,
): Record<string, unknown> | undefined {
  switch (type) {
    case 'OriginsAllowed': {
      const origins = allowedOrigins[data.purpose];
      return origins && { origins };
    }
    case 'WalletChosen':
      return { wallet: money.wallet };
    case 'ApprovalRequired':
      return copyOf(money.approvals.find((each) => approvalKeyOf(each) === approvalKeyOf(data)));
    case 'MoneyLimited':
      return copyOf(money.limits.find((each) => limitKeyOf(each) === limitKeyOf(data)));
    default:
      return undefined;
  }
}

const copyOf = (setting: object | undefined) => setting && { ...setting };
