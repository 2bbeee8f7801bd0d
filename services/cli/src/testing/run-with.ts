/** Runs command lines without a process, for specs. */
import { silentLog, systemIds } from '@tollgate/service-kit';
import type { OpenedTools } from '../tools.ts';
import { type CliDependencies, runCommandLine } from '../program.ts';

/** Default tools of a command. */
export const toolsWith = (
  some: Pick<OpenedTools, 'store' | 'clock'> & Partial<OpenedTools>,
): OpenedTools => ({
  ids: systemIds,
  log: silentLog,
  directory: {} as never,
  webhookSecrets: () => [],
  dataSecrets: notGiven,
  internalSecrets: notGiven,
  openAccount: notGiven,
  teamKeys: {} as never,
  ...some,
});

const notGiven = (): never => {
  throw new Error('The spec has not given this tool.');
};

interface Ran {
  exitCode: number;
  out: string;
  error: string;
}

/** @param command its words, or one space-separated text */
export async function runWith(
  tools: OpenedTools,
  command: string | readonly string[],
  more: Partial<CliDependencies> = {},
): Promise<Ran> {
  const output = { out: '', error: '' };
  const exitCode = await runCommandLine(typeof command === 'string' ? command.split(' ') : command, {
    open: async () => ({ tools, close: async () => undefined }),
    print: (text) => (output.out += text),
    complain: (text) => (output.error += text),
    ...more,
  });
  return { exitCode, ...output };
}
