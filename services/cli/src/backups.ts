/** `backup`, `backup verify`: copies of the embedded store. */
import { resolve } from 'node:path';
import { release } from '@tollgate/gateway/configuration';
import { type CommandResult, done, refuse } from '@tollgate/service-kit/command-line';
import { type Backup, inMegabytes, makeBackup } from './backup/make-backup.ts';
import { type Verified, verifyBackup } from './backup/verify-backup.ts';
import { type CommandTools, number, stopSignalOf } from './tools.ts';

/** Prints a line at most every so many percent. */
const percentStep = 10;

export async function back(
  tools: CommandTools,
  request: { folder: string; withSecrets: boolean },
): Promise<CommandResult> {
  const { directory, clock, ids, person, isEmbedded = true } = tools;
  if (!isEmbedded)
    return refuse(
      'The events are in EventStoreDB, which has its own backups: see "Backups" in docs/operator/eventstoredb.md.',
    );
  const signal = stopSignalOf(tools);
  let printedPercent = 0;
  const onProgress = ({ bytesCopied, bytes }: { bytesCopied: number; bytes: number }) => {
    const percent = Math.floor((100 * bytesCopied) / bytes);
    if (percent < printedPercent + percentStep) return;
    printedPercent = percent - (percent % percentStep);
    tools.progress(`${printedPercent} % of ${inMegabytes(bytes)} copied\n`);
  };
  try {
    const backup = await makeBackup({
      directory,
      clock,
      ids,
      signal,
      onProgress,
      by: person.name,
      ...request,
    });
    return done(toText(backup), backup);
  } catch (error) {
    if (!signal.aborted) throw error;
    return refuse('The backup was stopped and removed.');
  }
}

function toText({ folder, events, takenAt, files, hasSecrets, missingSecrets }: Backup): string {
  const bytes = files.reduce((sum, file) => sum + file.bytes, 0);
  const secrets = hasSecrets
    ? 'It contains the secrets of the data directory. Protect it like the gateway itself.'
    : 'It contains no secrets (--with-secrets). Back up those of the data directory separately.';
  return [
    `${folder} holds ${events.toLocaleString('en')} events (${inMegabytes(bytes)}), as of ${takenAt}.`,
    secrets,
    ...(missingSecrets.length === 0
      ? []
      : [`Not in the data directory, and therefore not in the backup: ${missingSecrets.join(', ')}.`]),
    `Check it: tollgate backup verify ${folder}`,
  ].join('\n');
}

export async function verify(
  { progress }: Pick<CommandTools, 'progress'>,
  { folder: given }: { folder: string },
): Promise<CommandResult> {
  const folder = resolve(given);
  // There is nothing to clean up, so a signal may end the process.
  const { signal } = new AbortController();
  const verified = await verifyBackup({ folder, signal, onProgress: (line) => progress(`${line}\n`) });
  const { manifest, ...found } = verified;
  const json = { folder, ...manifest, ...found };
  if (found.findings.length === 0) return done(toVerifiedText(folder, verified), json);
  const text = `${found.findings.join('\n')}\n${folder} is not a valid backup: ${number(found.findings.length)} findings.`;
  return done(text, json, 1);
}

function toVerifiedText(folder: string, verified: Verified): string {
  const { manifest, streams, events, views, teams, securityEntries } = verified;
  const { files, takenAt, by, release: madeBy, hasSecrets } = manifest;
  return [
    `${folder} is complete, as of ${takenAt} (by ${by}, release ${madeBy}).`,
    `Unchanged files: ${files.map(({ name }) => name).join(', ')}.`,
    `${number(streams)} streams with ${number(events)} events have no gap, and release ${release} can read them.`,
    views === undefined
      ? `Release ${release} rebuilds its views from them.`
      : `${number(views)} views match their events.`,
    `The records of ${number(teams)} teams are signed.`,
    `The chain of the security log is intact: ${number(securityEntries)} entries.`,
    hasSecrets ? 'The secrets match the backup.' : 'It contains no secrets.',
  ].join('\n');
}
