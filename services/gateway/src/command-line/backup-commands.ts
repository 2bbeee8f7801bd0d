/** `backup`: a copy of the embedded store that a gateway can be restored from. */
import { resolve } from 'node:path';
import type { RunAlone } from '@tollgate/service-kit/command-line';
import type { Command } from 'commander';
import { type Backup, inMegabytes, makeBackup } from '../backup/make-backup.ts';
import { type Verified, verifyBackup } from '../backup/verify-backup.ts';
import { release } from '../configuration/release.ts';
import { type CommandResult, type CommandTools, type RunCommand, stopSignalOf } from './command.ts';

type Print = (text: string) => void;

interface Options {
  withSecrets?: boolean;
  json?: boolean;
}

export function registerBackupCommands(
  program: Command,
  { run, runAlone, print: output }: { run: RunCommand; runAlone: RunAlone; print: Print },
): void {
  const printOf = ({ json = false }: Options): Print => (json ? () => undefined : output);
  const backup = program
    .command('backup')
    .description(
      'copy the embedded event store into a folder while the gateway runs; the folder is there when it is complete',
    )
    .argument('<folder>', 'to be made, or empty; on another disk')
    .option(
      '--with-secrets',
      'also the secrets that the data directory has made: keep them apart from the rest',
    )
    .action((folder: string, _: unknown, command: Command) => {
      const options = command.optsWithGlobals<Options>();
      const { withSecrets = false } = options;
      return run((tools) => back(tools, { folder, withSecrets }, printOf(options)));
    });
  backup
    .command('verify')
    .description(
      'read a backup and say whether a gateway can be restored from it; changes nothing, and needs no gateway.\nExit code 1 where something is wrong',
    )
    .argument('<folder>', 'as tollgate backup has made it')
    .action((folder: string, _: unknown, command: Command) =>
      runAlone(() => verify(folder, printOf(command.optsWithGlobals<Options>()))),
    );
}

/** A line for each so many per cent at most. */
const percentStep = 10;

async function back(
  tools: CommandTools,
  request: { folder: string; withSecrets: boolean },
  print: Print,
): Promise<CommandResult> {
  const { directory, clock, ids, person, isEmbedded = true } = tools;
  if (!isEmbedded)
    return {
      kind: 'refused',
      message:
        'The events are in EventStoreDB, which has backups of its own: see "Backups" in docs/operator/eventstoredb.md.',
    };
  const signal = stopSignalOf(tools);
  let printedPercent = 0;
  const onProgress = ({ bytesCopied, bytes }: { bytesCopied: number; bytes: number }) => {
    const percent = Math.floor((100 * bytesCopied) / bytes);
    if (percent < printedPercent + percentStep) return;
    printedPercent = percent - (percent % percentStep);
    print(`${printedPercent} % of ${inMegabytes(bytes)} copied\n`);
  };
  try {
    const backup = await makeBackup({
      ...{ directory, clock, ids, signal, onProgress, by: person.name },
      ...request,
    });
    return { kind: 'done', text: toText(backup), json: backup };
  } catch (error) {
    if (!signal.aborted) throw error;
    return { kind: 'refused', message: 'The backup was stopped; nothing of it is left.' };
  }
}

function toText({ folder, events, takenAt, files, hasSecrets, missingSecrets }: Backup): string {
  const bytes = files.reduce((sum, file) => sum + file.bytes, 0);
  const secrets = hasSecrets
    ? 'It holds the secrets of the data directory: anyone who reads it can do what the gateway can.'
    : 'It holds no secrets (--with-secrets): keep those of the data directory, too, in another place.';
  return [
    `${folder} holds ${events.toLocaleString('en')} events (${inMegabytes(bytes)}), as of ${takenAt}.`,
    secrets,
    ...(missingSecrets.length === 0
      ? []
      : [`Not in the data directory, and so not in it: ${missingSecrets.join(', ')}.`]),
    `Check it: tollgate backup verify ${folder}`,
  ].join('\n');
}

async function verify(given: string, print: Print): Promise<CommandResult> {
  const folder = resolve(given);
  // Nothing is left to clean up: a signal may end the process.
  const { signal } = new AbortController();
  const verified = await verifyBackup({ folder, signal, onProgress: (line) => print(`${line}\n`) });
  const { manifest, ...found } = verified;
  const json = { folder, ...manifest, ...found };
  if (found.findings.length === 0) return { kind: 'done', text: toVerifiedText(folder, verified), json };
  const text = `${found.findings.join('\n')}\n${folder} is no backup to rely on: ${number(found.findings.length)} findings.`;
  return { kind: 'done', text, json, exitCode: 1 };
}

const number = (value: number) => value.toLocaleString('en');

function toVerifiedText(folder: string, verified: Verified): string {
  const { manifest, streams, events, views, teams, securityEntries } = verified;
  const { files, takenAt, by, release: madeBy, hasSecrets } = manifest;
  return [
    `${folder} is whole, as of ${takenAt} (by ${by}, release ${madeBy}).`,
    `Files as they were written: ${files.map(({ name }) => name).join(', ')}.`,
    `${number(streams)} streams with ${number(events)} events have no gap, and release ${release} reads them all.`,
    views === undefined
      ? `Release ${release} rebuilds its views from them.`
      : `${number(views)} views are what their events give.`,
    `The records of ${number(teams)} teams are signed.`,
    `The chain of the security log is whole: ${number(securityEntries)} entries.`,
    hasSecrets ? 'The secrets are those that it was written with.' : 'It holds no secrets.',
  ].join('\n');
}
