/** `upgrade check` before a release is installed, `upgrade finish` when every process runs it. */
import { livingMembers, raiseSchemaVersion, readSchemaVersion } from '@tollgate/event-store';
import { schemaVersion } from '@tollgate/payment-domain';
import { liveIn, readViewVersion } from '@tollgate/views';
import type { Command } from 'commander';
import { release } from '../configuration/release.ts';
import { type CommandResult, type CommandTools, type RunCommand, stopSignalOf } from './command.ts';
import { type StoreCheck, checkStore, eventsRead } from './upgrade-check.ts';

type Print = (text: string) => void;

export function registerUpgradeCommand(program: Command, run: RunCommand, output: Print): void {
  const upgrade = program
    .command('upgrade')
    .description('prepare and finish an upgrade; docs/operator/upgrading.md has the steps');
  upgrade
    .command('check')
    .description(
      'read the whole event store with this release and report what it cannot read; changes nothing, also beside a running gateway',
    )
    .action((_: unknown, command: Command) => {
      const { json = false } = command.optsWithGlobals<{ json?: boolean }>();
      const print = json ? () => undefined : output;
      return run((tools) => check(tools, print));
    });
  upgrade
    .command('finish')
    .description(
      'raise the schema version of the event store to that of this release, once every running process reads it; the release before cannot be started again then',
    )
    .action(() => run(finish));
}

async function finish({ store, clock, ids }: CommandTools): Promise<CommandResult> {
  const self = { release, reads: schemaVersion };
  const { version, revision } = await readSchemaVersion(store);
  const older = (await livingMembers(store, clock)).filter(({ reads }) => reads < schemaVersion);
  if (version < schemaVersion && older.length > 0) {
    const named = older.map((each) => `${each.member} (release ${each.release})`).join(', ');
    return {
      kind: 'refused',
      message: `Processes of an older release run: ${named}. Stop or upgrade them, wait ten seconds, and repeat.`,
    };
  }
  if (version < schemaVersion) await raiseSchemaVersion({ store, clock, ids }, self, revision);
  const json = { release, from: version, to: schemaVersion };
  const text =
    version < schemaVersion
      ? `The event store is raised from schema version ${version} to ${schemaVersion}.`
      : `The event store is at schema version ${version} already.`;
  return { kind: 'done', text, json };
}

const number = (value: number) => value.toLocaleString('en');

async function check(tools: CommandTools, print: Print): Promise<CommandResult> {
  const { store, clock } = tools;
  const [{ version }, processes, { record }] = await Promise.all([
    readSchemaVersion(store),
    livingMembers(store, clock),
    readViewVersion(store),
  ]);
  const found = await checkStore({ store, signal: stopSignalOf(tools) }, (events) =>
    print(`${number(events)} events read\n`),
  );
  const json = {
    ...{ release, reads: schemaVersion, storeSchemaVersion: version, processes },
    ...{ viewsAreBuiltAnew: liveIn(record) === undefined, ...found },
  };
  if (found.unreadable.length > 0) {
    for (const { stream, revision, type, code, message } of found.unreadable)
      print(`${stream}, event ${revision} (${type}): ${code}: ${message}\n`);
    const named = found.unreadable.map(({ stream }) => stream).join(' ');
    const message = `${number(found.unreadable.length)} streams cannot be read by release ${release}: do not upgrade before this is understood. ${named}`;
    return { kind: 'refused', message };
  }
  return { kind: 'done', text: toText(json), json };
}

function toText(
  checked: StoreCheck & {
    storeSchemaVersion: number;
    processes: readonly { member: string; release: string; reads: number }[];
    viewsAreBuiltAnew: boolean;
  },
): string {
  const { storeSchemaVersion, processes, viewsAreBuiltAnew } = checked;
  const kinds = Object.entries(checked.events).map(([kind, count]) => `${kind}: ${number(count)}`);
  const running = processes.map(
    (each) => `${each.member}: release ${each.release}, reads up to ${each.reads}`,
  );
  return [
    `Release ${release} reads all ${number(eventsRead(checked))} events (${kinds.join(', ') || 'none'}).`,
    `The store is at schema version ${storeSchemaVersion}, and this release reads up to ${schemaVersion}.`,
    viewsAreBuiltAnew
      ? 'Its views have another form: its projector rebuilds them beside those of the release before.'
      : 'Its views have the form of those that are live.',
    running.length === 0 ? 'No process of a gateway runs.' : `Running: ${running.join('; ')}.`,
  ].join('\n');
}
