/** `upgrade check` before installing a release, `upgrade finish` when every process runs it. */
import { livingMembers, raiseSchemaVersion, readSchemaVersion, schemaVersion } from '@tollgate/event-store';
import { release } from '@tollgate/gateway/configuration';
import { type CommandResult, done, refuse } from '@tollgate/service-kit/command-line';
import { type StoreCheck, checkStore, eventsRead } from './check-store.ts';
import { type CommandTools, number, stopSignalOf } from './tools.ts';

export async function finishUpgrade({ store, clock, ids }: CommandTools): Promise<CommandResult> {
  const self = { release, reads: schemaVersion };
  const { version, revision } = await readSchemaVersion(store);
  const json = { release, from: version, to: schemaVersion };
  if (version >= schemaVersion) return done(`The event store is at schema version ${version} already.`, json);
  const older = (await livingMembers(store, clock)).filter(({ reads }) => reads < schemaVersion);
  if (older.length > 0) {
    const named = older.map((each) => `${each.member} (release ${each.release})`).join(', ');
    return refuse(
      `Processes of an older release run: ${named}. Stop or upgrade them, wait ten seconds, and repeat.`,
    );
  }
  await raiseSchemaVersion({ store, clock, ids }, self, revision);
  return done(`The event store is raised from schema version ${version} to ${schemaVersion}.`, json);
}

export async function checkUpgrade(tools: CommandTools): Promise<CommandResult> {
  const { store, clock, progress } = tools;
  const [{ version }, processes] = await Promise.all([readSchemaVersion(store), livingMembers(store, clock)]);
  const found = await checkStore({ store, signal: stopSignalOf(tools) }, (events) =>
    progress(`${number(events)} events read\n`),
  );
  const json = { release, reads: schemaVersion, storeSchemaVersion: version, processes, ...found };
  if (found.unreadable.length > 0) {
    for (const { stream, revision, type, code, message } of found.unreadable)
      progress(`${stream}, event ${revision} (${type}): ${code}: ${message}\n`);
    const named = found.unreadable.map(({ stream }) => stream).join(' ');
    const message = `${number(found.unreadable.length)} streams cannot be read by release ${release}: do not upgrade before this is understood. ${named}`;
    return refuse(message);
  }
  return done(toText(json), json);
}

function toText(
  checked: StoreCheck & {
    storeSchemaVersion: number;
    processes: readonly { member: string; release: string; reads: number }[];
  },
): string {
  const { storeSchemaVersion, processes } = checked;
  const kinds = Object.entries(checked.events).map(([kind, count]) => `${kind}: ${number(count)}`);
  const running = processes.map(
    (each) => `${each.member}: release ${each.release}, reads up to ${each.reads}`,
  );
  return [
    `Release ${release} reads all ${number(eventsRead(checked))} events (${kinds.join(', ') || 'none'}).`,
    `The store is at schema version ${storeSchemaVersion}, and this release reads up to ${schemaVersion}.`,
    running.length === 0 ? 'No process of a gateway runs.' : `Running: ${running.join('; ')}.`,
  ].join('\n');
}
