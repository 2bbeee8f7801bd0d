/** `rebuild`: rewrites the stored views from the events, and compares views and index with them. */
import { type Compared, compareReadModels, rebuild } from '@tollgate/projector';
import { type CommandResult, done, refuse } from '@tollgate/service-kit/command-line';
import { openIndexForReading } from '@tollgate/lists';
import { type CommandTools, number, recordAction, stopSignalOf } from './tools.ts';

export const rebuildViews = (tools: CommandTools, options: { check: boolean }): Promise<CommandResult> =>
  options.check ? checkAll(tools) : rebuildAll(tools);

async function rebuildAll(tools: CommandTools): Promise<CommandResult> {
  await recordAction(tools, 'rebuild');
  const { store, ids, log } = tools;
  const signal = stopSignalOf(tools);
  const onProgress = ({ compared: count }: { compared: number }) =>
    tools.progress(`${number(count)} views compared\n`);
  const rebuilt = await rebuild({ store, ids, log, signal, onProgress }).catch((error: unknown) => {
    if (signal.aborted) return undefined;
    throw error;
  });
  if (rebuilt === undefined) return refuse('The rebuild was stopped before it ended; repeat it.');
  const { views, failedStreams } = rebuilt;
  if (failedStreams.length > 0)
    return refuse(
      `All other views match their events. These streams cannot be projected: ${failedStreams.join(', ')}.`,
    );
  return done(`All ${number(views)} views match their events.`, { views });
}

async function checkAll(tools: CommandTools): Promise<CommandResult> {
  const { store, directory } = tools;
  const index = await openIndexForReading(directory.indexFile, { store });
  try {
    const compared = await compareReadModels({
      store,
      ...(index === undefined ? {} : { index }),
      signal: stopSignalOf(tools),
      onProgress: ({ compared: count }) => tools.progress(`${number(count)} views compared\n`),
    });
    return toResult(tools, compared, index !== undefined);
  } finally {
    index?.close();
  }
}

function toResult(tools: CommandTools, compared: Compared, hasIndex: boolean): CommandResult {
  const { views, ofOtherRelease, differing, differingInIndex, failed } = compared;
  const all = [...differing, ...differingInIndex.map((stream) => `index: ${stream}`)];
  if (all.length > 0) {
    for (const each of all) tools.progress(`${each}\n`);
    const named = tools.isJson ? `: ${all.join(', ')}` : '';
    const steps = [
      ...(differing.length > 0 ? ['run rebuild'] : []),
      ...(differingInIndex.length > 0 ? ['delete index.db while its process is stopped'] : []),
    ];
    return refuse(
      `${number(all.length)} read models differ from their events${named}; ${steps.join(', and ')}.`,
    );
  }
  const text = [
    `${number(views)} views match their events${hasIndex ? ', and so does the index' : ''}.`,
    ...(ofOtherRelease === 0
      ? []
      : [`${number(ofOtherRelease)} have the format of another release. Readers use their events instead.`]),
    ...(failed.length === 0 ? [] : [`Quarantined: ${failed.join(', ')}.`]),
  ].join(' ');
  return done(text, compared);
}
