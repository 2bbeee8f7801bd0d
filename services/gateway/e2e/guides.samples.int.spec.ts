/** `npm run test:samples`: runs the shell samples of each guide in docs/team in order, and compares their output. */
import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { eventually } from '@tollgate/testing';
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest';
import { someFreePorts } from './free-ports.ts';
import { type System, startSystem, stopEverything } from './system.ts';

const guides = [
  'quickstart',
  'hosted-payment',
  'card-payment',
  'two-step-payment',
  'stored-card',
  'refund',
  'payout',
  'dispute',
  'webhooks',
  'topics',
  'lists-and-month-end',
  'testing',
  'generated-clients',
];
const repository = fileURLToPath(new URL('../../../', import.meta.url));

let system: System;
beforeAll(async () => {
  system = await startSystem({});
});
afterAll(stopEverything);

interface Step {
  code: string;
  /** The JSON that the guide shows directly after the sample. */
  output?: unknown;
}

function stepsOf(guide: string): Step[] {
  const page = readFileSync(join(repository, `docs/team/${guide}.md`), 'utf8');
  const blocks = [...page.matchAll(/^```(\w+)\n([\s\S]*?)^```$/gmu)];
  return blocks.flatMap(([, language, code = ''], index) => {
    if (language !== 'sh') return [];
    const [, nextLanguage, next = ''] = blocks[index + 1] ?? [];
    return [nextLanguage === 'json' ? { code, output: JSON.parse(next) as unknown } : { code }];
  });
}

/** A text that ends in `…` matches any text that begins alike. */
function matching(shown: unknown): unknown {
  if (typeof shown === 'string') return shown.includes('…') ? expect.stringMatching(patternOf(shown)) : shown;
  if (Array.isArray(shown)) return shown.map(matching);
  if (typeof shown !== 'object' || shown === null) return shown;
  return expect.objectContaining(
    Object.fromEntries(Object.entries(shown).map(([name, value]) => [name, matching(value)])),
  );
}

const patternOf = (shown: string) =>
  new RegExp(
    `^${shown
      .split('…')
      .map((part) => part.replaceAll(/[$()*+.?[\\\]^{|}]/gu, String.raw`\$&`))
      .join('.+')}$`,
    'u',
  );

/** One terminal: each sample sees the variables, functions and files of the earlier ones. */
function openTerminal(port: number) {
  const folder = mkdtempSync(join(tmpdir(), 'tollgate-guide-'));
  const state = join(folder, 'state.sh');
  writeFileSync(state, `npm() { (cd '${repository}' && command npm "$@"); }\n`);
  const run = async (code: string): Promise<string> => {
    const script = `set -ae; . ${state}\n${code.replaceAll('8080', String(port))}\n{ export -p; declare -f; } > ${state}`;
    const child = spawn('bash', ['-c', script], {
      cwd: folder,
      env: {
        ...process.env,
        ...system.env,
        TOLLGATE_DATA_DIR: system.dataDir,
        TOLLGATE_URL: system.quickstart.gatewayUrl,
        TOLLGATE_KEY: system.quickstart.apiKey,
      },
    });
    const ended = new Promise((resolve) => child.once('close', resolve));
    const [output, complaints, exitCode] = await Promise.all([text(child.stdout), text(child.stderr), ended]);
    if (exitCode !== 0) throw new Error(`exit code ${String(exitCode)}: ${complaints}\n${code}`);
    return output;
  };
  onTestFinished(async () => {
    await run('kill "$RECEIVER" 2> /dev/null || true').catch(() => undefined);
    rmSync(folder, { recursive: true, force: true });
  });
  return run;
}

const isRead = (code: string) => !/ -d | -X POST|npm run|^\w+ \{|&$/mu.test(code);

it.each(guides)('%s works as written', { timeout: 180_000 }, async (guide) => {
  const [port = 0] = await someFreePorts(1);
  const run = openTerminal(port);
  const steps = stepsOf(guide);
  expect(steps.length).toBeGreaterThan(0);
  for (const { code, output } of steps) {
    const check = async () => {
      const printed = await run(code);
      if (output !== undefined) expect(JSON.parse(printed), code).toEqual(matching(output));
    };
    // A reader repeats a read until the change is there.
    await (isRead(code) ? eventually(check) : check());
  }
});
