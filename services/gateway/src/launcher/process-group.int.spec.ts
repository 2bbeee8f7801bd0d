/** The launcher's processes with small programs in the place of services. */
import { spawn } from 'node:child_process';
import { closeSync, mkdirSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock } from '@tollgate/service-kit';
import { eventually } from '@tollgate/testing';
import { expect, it, onTestFinished } from 'vitest';
import { type ProcessGroup, createProcessGroup } from './process-group.ts';

/** Serves until stopped, like a service, or until its channel closes. */
const service = `
  const end = () => { console.log('bye'); process.exit(0); };
  process.once('SIGTERM', end).once('disconnect', end);
  setInterval(() => {}, 1000);
  console.log('ready');
`;
const deaf = `process.on('SIGTERM', () => {}).on('SIGINT', () => {}); setInterval(() => {}, 1000); console.log('ready');`;

const environment = { ...process.env, PASSED_ON: 'passed on', SECRET_OF_ANOTHER: 'hush' };

interface Tried {
  group: ProcessGroup;
  lines: string[];
  listFile: string;
  start(name: string, program: string): Promise<void>;
  pidOf(label: string): number;
}

function tryGroup(): Tried {
  const folder = mkdtempSync(join(tmpdir(), 'tollgate-group-'));
  const lines: string[] = [];
  const listFile = join(folder, 'processes.json');
  const group = createProcessGroup({
    stopOrder: [['door'], ['one', 'two']],
    listFile,
    env: environment,
    clock: systemClock,
    say: (line) => lines.push(line),
  });
  onTestFinished(async () => {
    await group.stop(AbortSignal.abort());
    rmSync(folder, { recursive: true });
  });
  return {
    group,
    lines,
    listFile,
    start: (name, program) =>
      group.start({
        label: name,
        service: name,
        port: 1,
        metricsPort: 2,
        argv: ['-e', program],
        env: { OWN: 'own' },
        inherited: ['PASSED_ON'],
        isReadyLine: (line) => line === 'ready',
      }),
    pidOf(label) {
      const listed = JSON.parse(readFileSync(listFile, 'utf8')) as { label: string; pid: number }[];
      const pid = listed.find((each) => each.label === label)?.pid;
      if (pid === undefined) throw new Error(`${label} is not listed`);
      return pid;
    },
  };
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

const { signal: never } = new AbortController();

it('shows the output of each under its name, and stops them in order', async () => {
  const { group, lines, start, pidOf } = tryGroup();
  await Promise.all([start('one', service), start('door', service)]);
  expect(lines.toSorted()).toEqual(['[door] ready', '[one] ready']);
  await group.stop(never);
  expect(lines.slice(-2)).toEqual(['[door] bye', '[one] bye']);
  expect([pidOf('one'), pidOf('door')].filter(isRunning)).toEqual([]);
});

// Each process had the whole environment of the launcher, and with it every key.
it('gives each only its own variables; log lines have their process', async () => {
  const { lines, start } = tryGroup();
  const printing = `${service} console.log(JSON.stringify(process.env));`;
  await start('one', printing);
  const text = await eventually(() => {
    const line = lines.find((each) => each.startsWith('{"process":"one",'));
    if (line === undefined) throw new Error('it has printed nothing yet');
    return line;
  });
  const given = JSON.parse(text) as Record<string, string>;
  expect(given).toMatchObject({ OWN: 'own', PASSED_ON: 'passed on' });
  expect(given['PATH']).toBe(process.env['PATH']);
  expect(text).not.toContain('hush');
});

// One that the system killed for its memory while it was starting ended all the others.
it('restarts one that is killed before it serves, and gives up after some times', async () => {
  const { lines, start, listFile } = tryGroup();
  const marker = `${listFile}.started`;
  const killedOnce = `
    const fs = require('node:fs');
    if (!fs.existsSync(${JSON.stringify(marker)})) {
      fs.writeFileSync(${JSON.stringify(marker)}, '');
      process.kill(process.pid, 'SIGKILL');
    }
    ${service}`;
  await start('one', killedOnce);
  expect(lines).toContain('one ended (SIGKILL); it restarts in 250 ms');
  await expect(start('two', `process.kill(process.pid, 'SIGKILL')`)).rejects.toThrow(
    'two could not be started (SIGKILL)',
  );
  expect(lines.filter((line) => line.startsWith('two ended'))).toHaveLength(2);
  await expect(start('three', 'process.exit(70)')).rejects.toThrow(
    'three could not be started (exit code 70)',
  );
  expect(lines.filter((line) => line.startsWith('three ended'))).toHaveLength(2);
});

// A process that started while the event store elected a leader ended, and the launcher stopped the healthy ones as well.
it('repeats a start that may work later, and leaves the others running', async () => {
  const { lines, start, pidOf, listFile } = tryGroup();
  await start('one', service);
  const first = pidOf('one');
  const counter = `${listFile}.starts`;
  await start(
    'two',
    `
    const fs = require('node:fs');
    fs.appendFileSync(${JSON.stringify(counter)}, '.');
    if (fs.readFileSync(${JSON.stringify(counter)}, 'utf8').length < 4) process.exit(75);
    ${service}`,
  );
  expect(readFileSync(counter, 'utf8')).toBe('....');
  expect(lines).toContain('two ended (exit code 75); it restarts in 1000 ms');
  expect([pidOf('one'), isRunning(first)]).toEqual([first, true]);
});

it('restarts one that dies, with a log line', async () => {
  const { lines, start, pidOf } = tryGroup();
  await start('one', service);
  const first = pidOf('one');
  process.kill(first, 'SIGKILL');
  await eventually(() => expect(lines.filter((line) => line === '[one] ready')).toHaveLength(2));
  expect(lines).toContain('one ended (SIGKILL); it restarts in 250 ms');
  expect(pidOf('one')).not.toBe(first);
});

// A reader of the list during a restart found an empty file.
it('puts a new list in the place of the old one as a whole', async () => {
  const { start, listFile } = tryGroup();
  await start('one', service);
  const opened = openSync(listFile, 'r');
  onTestFinished(() => closeSync(opened));
  await start('two', service);
  const labelsOf = (file: number | string) =>
    (JSON.parse(readFileSync(file, 'utf8')) as { label: string }[]).map(({ label }) => label);
  expect([labelsOf(opened), labelsOf(listFile)]).toEqual([['one'], ['one', 'two']]);
});

// A full disk ended the launcher, and all services with it, when one of them had died.
it('restarts one that dies even if the list cannot be written, and logs it', async () => {
  const { group, lines, listFile, start, pidOf } = tryGroup();
  await start('one', service);
  const first = pidOf('one');
  rmSync(listFile);
  mkdirSync(listFile);
  process.kill(first, 'SIGKILL');
  await eventually(() => expect(lines.filter((line) => line === '[one] ready')).toHaveLength(2));
  expect(lines).toContainEqual(expect.stringMatching(/^one runs, but could not be listed \(EISDIR/));
  rmSync(listFile, { recursive: true });
  await start('two', service);
  expect(isRunning(pidOf('one'))).toBe(true);
  await group.stop(never);
  expect(lines.slice(-2).toSorted()).toEqual(['[one] bye', '[two] bye']);
});

it('does not restart one that never served', async () => {
  const { lines, start } = tryGroup();
  await expect(start('one', `console.error('Port 1 is taken.'); process.exit(78)`)).rejects.toThrow(
    'one could not be started (exit code 78)',
  );
  expect(lines).toEqual(['[one] Port 1 is taken.']);
});

it('kills one that does not stop in time', async () => {
  const { group, start, pidOf } = tryGroup();
  await start('two', deaf);
  const insist = new AbortController();
  const stopping = group.stop(insist.signal);
  insist.abort();
  await stopping;
  expect(isRunning(pidOf('two'))).toBe(false);
});

it('starts nothing once it is stopping', async () => {
  const { group, start } = tryGroup();
  await group.stop(never);
  expect(() => start('one', service)).toThrow();
});

// A killed launcher cannot stop its processes: the closed channel has to.
it('leaves nothing behind when it is killed itself', async () => {
  const program = `
    import { createProcessGroup } from ${JSON.stringify(new URL('./process-group.ts', import.meta.url).href)};
    import { systemClock } from '@tollgate/service-kit';
    const folder = process.argv[1];
    const group = createProcessGroup({ stopOrder: [], listFile: folder + '/list', env: {}, clock: systemClock, say: console.log });
    await group.start({ label: 'one', service: 'one', port: 1, argv: ['-e', ${JSON.stringify(service)}], env: {}, inherited: [], isShown: true, isReadyLine: (line) => line === 'ready' });
    console.log('pid ' + JSON.parse((await import('node:fs')).readFileSync(folder + '/list', 'utf8'))[0].pid);
  `;
  const folder = mkdtempSync(join(tmpdir(), 'tollgate-group-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const argv = ['--input-type=module', '-e', program, folder];
  const launcher = spawn(process.execPath, argv, {
    cwd: import.meta.dirname,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let printed = '';
  launcher.stdout.on('data', (data: Buffer) => (printed += data.toString()));
  await eventually(() => expect(printed).toContain('pid '), { timeoutMs: 15_000 });
  const pid = Number(/pid (\d+)/.exec(printed)?.[1]);
  expect(isRunning(pid)).toBe(true);
  launcher.kill('SIGKILL');
  await eventually(() => expect(isRunning(pid)).toBe(false), { timeoutMs: 15_000 });
});
