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

export const runWith = (tools: OpenedTools, command: string | readonly string[], output?: Output) =>
  runOpening(async () => ({ tools, close: async () => undefined }), command, output);

interface Output {
  out: string;
  error: string;
}

/**
 * @param command its words, or one space-separated text
 * @param output to read while the command runs
 */
export async function runOpening(
  open: CliDependencies['open'],
  command: string | readonly string[],
  output: Output = { out: '', error: '' },
): Promise<Output & { exitCode: number }> {
  const exitCode = await runCommandLine(typeof command === 'string' ? command.split(' ') : command, {
    open,
    print: (text) => (output.out += text),
    complain: (text) => (output.error += text),
  });
  return { exitCode, ...output };
}
