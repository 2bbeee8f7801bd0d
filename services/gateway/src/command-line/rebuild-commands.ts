/** `rebuild`: all documents again from the events, beside the running gateway. */
import { checkViews, rebuild, type Checked, type RebuildOutcome } from '@tollgate/projector';
import type { Command } from 'commander';
import { isOfAnEndedProcess, ownHost, toHolder } from '../composition/lease-holder.ts';
import type { CliOutput, CommandResult, CommandTools, RunCommand } from './program.ts';

interface RebuildCommandOptions {
  check?: boolean;
  json?: boolean;
}

export function registerRebuildCommands(program: Command, run: RunCommand, output: CliOutput): void {
  program
    .command('rebuild')
    .description(
      'build all read models again from the events, beside those that are read, and switch when they are complete; may be stopped and begun again',
    )
    .option('--check', 'only compare the read models with the events, and name what differs')
    .action((_: unknown, command: Command) => {
      const { check = false, json = false } = command.optsWithGlobals<RebuildCommandOptions>();
      const print = json ? () => undefined : output.print;
      return run((tools) => (check ? checkAll(tools, { ...output, print, json }) : rebuildAll(tools, print)));
    });
}

const number = (value: number) => value.toLocaleString('en');

async function rebuildAll(tools: CommandTools, print: CliOutput['print']): Promise<CommandResult> {
  const { store, clock, ids, log } = tools;
  const own = { host: ownHost(), pid: process.pid, life: ids.hex(6) };
  const begunAt = clock.monotonic();
  const outcome = await rebuild({
    ...{ store, clock, ids, log, holder: toHolder(own) },
    isGone: (other) => isOfAnEndedProcess(other, own),
    signal: tools.stopSignal?.() ?? new AbortController().signal,
    onProgress: ({ viewVersion, eventsRead }) => {
      const seconds = (clock.monotonic() - begunAt) / 1_000;
      const perSecond = number(Math.round(eventsRead / seconds));
      print(`generation ${viewVersion}: ${number(eventsRead)} events read, ${perSecond}/s\n`);
    },
  });
  return toResult(outcome);
}

function toResult(outcome: RebuildOutcome): CommandResult {
  switch (outcome.kind) {
    case 'switched': {
      const { viewVersion, eventsRead } = outcome;
      const text = `All read models were built again from ${number(eventsRead)} events read; generation ${viewVersion} is live.`;
      return { kind: 'done', text, json: outcome };
    }
    case 'already-switched': {
      const text = `Another rebuild has just ended; generation ${outcome.viewVersion} is live.`;
      return { kind: 'done', text, json: outcome };
    }
    case 'refused': {
      const streams = new Set(outcome.failedStreams.map(({ stream }) => stream));
      const message = `Nothing was switched: streams could not be projected again: ${[...streams].join(', ')}.`;
      return { kind: 'refused', message };
    }
    case 'stopped':
      return { kind: 'refused', message: 'It was stopped before it ended; begin it again, and it goes on.' };
  }
}

async function checkAll(
  tools: CommandTools,
  { print, json }: Pick<CliOutput, 'print'> & { json: boolean },
): Promise<CommandResult> {
  const checked = await checkViews({
    store: tools.store,
    signal: tools.stopSignal?.() ?? new AbortController().signal,
    onProgress: ({ viewsRead }) => print(`${number(viewsRead)} documents compared\n`),
  });
  if (checked.differing.length === 0) return { kind: 'done', text: toText(checked), json: checked };
  if (!json) for (const stream of checked.differing) print(`${stream}\n`);
  const named = json ? `: ${checked.differing.join(' ')}` : '';
  const message = `${number(checked.differing.length)} read models are not what their events give${named}; rebuild makes them anew.`;
  return { kind: 'refused', message };
}

function toText({ views, totals, failed }: Checked): string {
  const all = `${number(views)} documents and ${number(totals)} totals are what their events give.`;
  return failed.length === 0 ? all : `${all} Known not to be projected: ${failed.join(', ')}.`;
}
