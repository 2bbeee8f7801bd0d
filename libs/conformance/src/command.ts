/** `npm run conformance`: from arguments to an exit code. */
import { parseArguments, type Selection } from './arguments.ts';
import { closingReport, jsonReport, progressLine, testTitle, totalsOf } from './report.ts';
import { CannotRun, runSuite, selectTests, type SuiteDeps } from './suite.ts';

export interface CommandDeps extends Omit<SuiteDeps, 'onResult'> {
  environment: Parameters<typeof parseArguments>[1];
  print: (text: string) => void;
  /** For failures that prevent the run. */
  complain: (text: string) => void;
}

/** 0: all tests passed that were run. 1: one failed. 2: the suite could not run, or not to its end. */
export type ExitCode = 0 | 1 | 2;

export async function runCommand(argv: readonly string[], deps: CommandDeps): Promise<ExitCode> {
  const { environment, print, complain } = deps;
  const parsed = parseArguments(argv, environment);
  switch (parsed.kind) {
    case 'help':
      print(parsed.help);
      return 0;
    case 'problem':
      complain(`${parsed.problem}\n`);
      return 2;
    case 'list':
      print(listing(parsed.selection));
      return 0;
    case 'run':
      return run(parsed.arguments, deps);
  }
}

function listing(selection: Selection): string {
  const tests = selectTests(selection);
  if (!selection.json) return tests.map((test) => `${testTitle(test)}\n`).join('');
  const shown = tests.map(({ name, basis, relies }) => ({ name, basis, relies }));
  return `${JSON.stringify(shown, null, 2)}\n`;
}

async function run(asked: Parameters<typeof runSuite>[0], deps: CommandDeps): Promise<ExitCode> {
  const { clock, newName, print, complain } = deps;
  const onResult: SuiteDeps['onResult'] = (result) => {
    if (!asked.json) print(`${progressLine(result)}\n`);
  };
  try {
    const summary = await runSuite(asked, { clock, newName, onResult });
    print(asked.json ? jsonReport(asked.baseUrl, summary) : closingReport(summary));
    if (summary.isCutShort) return 2;
    return totalsOf(summary.results).failed > 0 ? 1 : 0;
  } catch (error) {
    if (!(error instanceof CannotRun)) throw error;
    complain(`${error.message}\n`);
    return 2;
  }
}
