/** `rebuild`: all read models from the events, while the gateway runs. */
import { isOfAnEndedProcess, ownHost, toHolder } from '@tollgate/gateway/configuration';
import {
  type Checked,
  type RebuildOutcome,
  checkViews,
  dropOtherReleases,
  rebuild,
  streamsPerSecondMax,
} from '@tollgate/projector';
import { type CommandResult, done, refuse } from '@tollgate/service-kit/command-line';
import { type CommandTools, number, recordAction, stopSignalOf } from './tools.ts';

interface Options {
  check: boolean;
  dropOtherReleases: boolean;
}

export function rebuildViews(tools: CommandTools, options: Options): Promise<CommandResult> {
  if (options.check) return checkAll(tools);
  return options.dropOtherReleases ? dropOthers(tools) : rebuildAll(tools);
}

async function rebuildAll(tools: CommandTools): Promise<CommandResult> {
  await recordAction(tools, 'rebuild');
  const { store, clock, ids, log } = tools;
  const own = { host: ownHost(), pid: process.pid, life: ids.hex(6) };
  const begunAt = clock.monotonic();
  const outcome = await rebuild({
    ...{ store, clock, ids, log, holder: toHolder(own) },
    isGone: (other) => isOfAnEndedProcess(other, own),
    signal: stopSignalOf(tools),
    onProgress: ({ viewVersion, eventsRead }) => {
      const seconds = (clock.monotonic() - begunAt) / 1_000;
      const perSecond = number(Math.round(eventsRead / seconds));
      tools.progress(`view version ${viewVersion}: ${number(eventsRead)} events read, ${perSecond}/s\n`);
    },
  });
  return toResult(outcome);
}

function toResult(outcome: RebuildOutcome): CommandResult {
  switch (outcome.kind) {
    case 'switched': {
      const { viewVersion, eventsRead } = outcome;
      const text = `All read models were built again from ${number(eventsRead)} events read; view version ${viewVersion} is live. The projector removes the views of the version before, at most ${streamsPerSecondMax} a second.`;
      return done(text, outcome);
    }
    case 'already-switched': {
      const text = `Another rebuild has just ended; view version ${outcome.viewVersion} is live.`;
      return done(text, outcome);
    }
    case 'refused': {
      const streams = new Set(outcome.failedStreams.map(({ stream }) => stream));
      const message = `Nothing was switched: streams could not be projected again: ${[...streams].join(', ')}.`;
      return refuse(message);
    }
    case 'stopped':
      return refuse('The rebuild was stopped before it ended; start it again, and it continues.');
  }
}

async function dropOthers(tools: CommandTools): Promise<CommandResult> {
  const dropped = await dropOtherReleases(tools);
  const text =
    dropped.length === 0
      ? 'There are no read models of other releases.'
      : `View version ${dropped.join(', ')} of other releases is given up: the projector removes it.`;
  return done(text, { dropped });
}

async function checkAll(tools: CommandTools): Promise<CommandResult> {
  const checked = await checkViews({
    store: tools.store,
    signal: stopSignalOf(tools),
    onProgress: ({ viewsRead }) => tools.progress(`${number(viewsRead)} views compared\n`),
  });
  if (checked.differing.length === 0) return done(toText(checked), checked);
  for (const stream of checked.differing) tools.progress(`${stream}\n`);
  const named = tools.isJson ? `: ${checked.differing.join(' ')}` : '';
  const message = `${number(checked.differing.length)} read models are not what their events give${named}; run rebuild.`;
  return refuse(message);
}

function toText({ views, failed, toRemove }: Checked): string {
  const sentences = [
    `${number(views)} views are what their events give.`,
    ...(failed.length === 0 ? [] : [`Known not to be projected: ${failed.join(', ')}.`]),
    ...(toRemove.length === 0
      ? []
      : [`Nobody reads view version ${toRemove.join(', ')} any more: the projector removes it.`]),
  ];
  return sentences.join(' ');
}
