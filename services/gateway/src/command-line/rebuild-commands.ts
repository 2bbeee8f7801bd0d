/** `rebuild`: all read models again from the events, beside the running gateway. */
import {
  checkViews,
  dropOtherReleases,
  rebuild,
  streamsPerSecondMax,
  type Checked,
  type RebuildOutcome,
} from '@tollgate/projector';
import type { Command } from 'commander';
import { isOfAnEndedProcess, ownHost, toHolder } from '../composition/lease-holder.ts';
import { recordAction } from './audit-commands.ts';
import { type CommandResult, type CommandTools, type RunCommand, stopSignalOf } from './command.ts';

type Print = (text: string) => void;

export function registerRebuildCommands(program: Command, run: RunCommand, output: Print): void {
  program
    .command('rebuild')
    .description(
      'rebuild all read models from the events, beside the live ones, and switch when they are complete; may be stopped and started again',
    )
    .option('--check', 'only compare the read models with the events, and name what differs')
    .option(
      '--drop-other-releases',
      'only give up the read models of other releases: the projector removes them',
    )
    .action((_: unknown, command: Command) => {
      const { check, dropOtherReleases, json = false } = command.optsWithGlobals<Options>();
      const print = json ? () => undefined : output;
      return run((tools) => {
        if (check === true) return checkAll(tools, print, json);
        return dropOtherReleases === true ? dropOthers(tools) : rebuildAll(tools, print);
      });
    });
}

interface Options {
  check?: boolean;
  dropOtherReleases?: boolean;
  json?: boolean;
}

const number = (value: number) => value.toLocaleString('en');

async function rebuildAll(tools: CommandTools, print: Print): Promise<CommandResult> {
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
      print(`view version ${viewVersion}: ${number(eventsRead)} events read, ${perSecond}/s\n`);
    },
  });
  return toResult(outcome);
}

function toResult(outcome: RebuildOutcome): CommandResult {
  switch (outcome.kind) {
    case 'switched': {
      const { viewVersion, eventsRead } = outcome;
      const text = `All read models were built again from ${number(eventsRead)} events read; view version ${viewVersion} is live. The projector removes the views of the version before, at most ${streamsPerSecondMax} a second.`;
      return { kind: 'done', text, json: outcome };
    }
    case 'already-switched': {
      const text = `Another rebuild has just ended; view version ${outcome.viewVersion} is live.`;
      return { kind: 'done', text, json: outcome };
    }
    case 'refused': {
      const streams = new Set(outcome.failedStreams.map(({ stream }) => stream));
      const message = `Nothing was switched: streams could not be projected again: ${[...streams].join(', ')}.`;
      return { kind: 'refused', message };
    }
    case 'stopped':
      return {
        kind: 'refused',
        message: 'The rebuild was stopped before it ended; start it again, and it continues.',
      };
  }
}

async function dropOthers(tools: CommandTools): Promise<CommandResult> {
  const dropped = await dropOtherReleases(tools);
  const text =
    dropped.length === 0
      ? 'There are no read models of other releases.'
      : `View version ${dropped.join(', ')} of other releases is given up: the projector removes it.`;
  return { kind: 'done', text, json: { dropped } };
}

async function checkAll(tools: CommandTools, print: Print, isJson: boolean): Promise<CommandResult> {
  const checked = await checkViews({
    store: tools.store,
    signal: stopSignalOf(tools),
    onProgress: ({ viewsRead }) => print(`${number(viewsRead)} views compared\n`),
  });
  if (checked.differing.length === 0) return { kind: 'done', text: toText(checked), json: checked };
  if (!isJson) for (const stream of checked.differing) print(`${stream}\n`);
  const named = isJson ? `: ${checked.differing.join(' ')}` : '';
  const message = `${number(checked.differing.length)} read models are not what their events give${named}; run rebuild.`;
  return { kind: 'refused', message };
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
