/** Opens the team directory and reports accepted and rejected callers. */
import type { EventStore } from '@tollgate/event-store';
import {
  type OperatorCredentials,
  type TeamKeys,
  createKeyUse,
  createSecurityLog,
  createSecurityWatch,
  createTeamDirectory,
} from '@tollgate/teams';
import type { GatewayDependencies } from '../configuration/gateway-dependencies.ts';
import type { Metrics } from '../edge/metrics/metrics.ts';
import { inBackground } from './background.ts';

/** Resolves when every key is known. */
export async function openTeams(
  { clock, ids, logOf, config }: Pick<GatewayDependencies, 'clock' | 'ids' | 'logOf' | 'config'>,
  parts: {
    store: EventStore;
    teamKeys: TeamKeys;
    metrics: Pick<Metrics, 'refusedRequest'>;
    operators: OperatorCredentials;
  },
  stops: AsyncDisposableStack,
) {
  const { store, teamKeys, metrics, operators } = parts;
  const log = logOf('security');
  const securityLog = createSecurityLog({ store, clock, ids, log });
  const security = createSecurityWatch({ securityLog, clock, log });
  const keyUse = createKeyUse({ store, clock, ids, log });
  stops.defer(inBackground((signal) => security.run(signal)));
  stops.defer(inBackground((signal) => keyUse.run(signal)));
  const directory = createTeamDirectory({
    store,
    clock,
    verifier: teamKeys.verifier(),
    operators,
    log: logOf('team-directory'),
    sessionIdleMs: config.sessionIdleMs,
    onUse: keyUse.note,
    onRefusal: (refusal) => {
      metrics.refusedRequest(refusal.code);
      security.noteRefusal(refusal);
    },
  });
  stops.defer(() => directory.stop());
  await directory.start();
  return { directory, securityLog, security };
}
