/**
 * `npm run test:upgrades [-- --quick]`: the release before this one, this one, and the next, side by side on one store under
 * load. `--quick`: only one upgrade to the next release and back.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runVitest } from '../run-vitest.ts';
import { runCommand } from '../stop-with-sentence.ts';
import { buildLastRelease } from './last-release.ts';
import { buildNextRelease } from './next-release.ts';

const quick = ['--testNamePattern', 'adds events'];
const options = process.argv.slice(2).flatMap((option) => (option === '--quick' ? quick : [option]));
const say = (line: string) => process.stdout.write(`${line}\n`);

await runCommand(async (signal) => {
  const folder = mkdtempSync(join(tmpdir(), 'tollgate-releases-'));
  try {
    const last = await buildLastRelease(join(folder, 'last'), say, signal);
    const next = await buildNextRelease(join(folder, 'next'));
    const env = { NEXT_RELEASE_FOLDER: next, ...(last === undefined ? {} : { LAST_RELEASE_FOLDER: last }) };
    return await runVitest('upgrades', options, { env, signal });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
