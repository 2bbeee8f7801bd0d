/** The samples of docs/team, extracted unchanged from their pages, and run by their language's runtime. */
import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';

interface Language {
  /** Language of the code block in Markdown. */
  fence: string;
  /** Prefix and extension of a sample's file; Java's name begins with a capital. */
  extension: string;
  /** The command that runs a file; must be on the `PATH`. */
  command: readonly [string, ...string[]];
}

export const languages: Readonly<Record<string, Language>> = {
  curl: { fence: 'sh', extension: 'sh', command: ['sh'] },
  TypeScript: { fence: 'ts', extension: 'ts', command: ['node', '--no-warnings'] },
  Python: { fence: 'python', extension: 'py', command: ['python3'] },
  Java: { fence: 'java', extension: 'java', command: ['java'] },
  Go: { fence: 'go', extension: 'go', command: ['go', 'run'] },
};

const pageOf = (name: string) =>
  readFileSync(new URL(`../../../docs/team/${name}.md`, import.meta.url), 'utf8');

/** @throws Error if the page has no sample in the language, or several */
function sampleIn(page: string, { fence }: Language): string {
  const blocks = [...pageOf(page).matchAll(new RegExp(`^\`\`\`${fence}\n([\\s\\S]*?)^\`\`\``, 'gm'))];
  const [sample, ...others] = blocks.flatMap(([, code]) => code ?? []);
  if (sample === undefined || others.length > 0)
    throw new Error(`docs/team/${page}.md needs one block of ${fence}, and has ${blocks.length}`);
  return sample;
}

interface SampleRun {
  argv: readonly string[];
  env: Record<string, string>;
  input?: string | Buffer;
}

/** A sample as its own file. */
export interface Sample {
  /** @returns its output, or its error output if there was none */
  run(options: SampleRun): Promise<string>;
  remove(): void;
}

/** @param name of its file, without the extension */
export function createSample(page: string, name: string, language: Language): Sample {
  const folder = mkdtempSync(join(tmpdir(), 'tollgate-sample-'));
  const capital = language.fence === 'java' ? name.charAt(0).toUpperCase() : name.charAt(0);
  const file = join(folder, `${capital}${name.slice(1)}.${language.extension}`);
  writeFileSync(file, sampleIn(page, language));
  return {
    run: (options) => runFile(language.command, file, options),
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}

async function runFile(
  [command, ...first]: Language['command'],
  file: string,
  { argv, env, input = '' }: SampleRun,
): Promise<string> {
  const child = spawn(command, [...first, file, ...argv], { env: { ...ofRuntimes(), ...env } });
  child.stdin.on('error', () => undefined).end(input);
  const ended = new Promise((resolve, reject) => {
    child.once('error', (cause) =>
      reject(new Error(`${command} cannot be run: put it on the PATH (${cause.message})`, { cause })),
    );
    child.once('close', resolve);
  });
  const [printed, complaints] = await Promise.all([text(child.stdout), text(child.stderr), ended]);
  return printed.trim() || complaints.trim();
}

/** Variables by which runtimes find themselves and their caches. */
function ofRuntimes(): Record<string, string> {
  const names = ['PATH', 'HOME', 'JAVA_HOME', 'GOROOT', 'GOCACHE', 'GOPATH', 'TMPDIR'];
  return Object.fromEntries(names.flatMap((name) => (process.env[name] ? [[name, process.env[name]]] : [])));
}
