/** `npm run test:upgrades`: the release before this one, this one, and one to come, side by side on one store under load. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { workspace } from '../copy-workspace.ts';
import { runWithServer } from '../run-with-server.ts';
import { runCommand } from '../stop-with-sentence.ts';
import { buildLastRelease } from './last-release.ts';
import { buildNextRelease } from './next-release.ts';

const vitest = join(workspace, 'node_modules', 'vitest', 'vitest.mjs');
const say = (line: string) => process.stdout.write(`${line}\n`);

await runCommand(async (signal) => {
  const folder = mkdtempSync(join(tmpdir(), 'tollgate-releases-'));
  try {
    const last = await buildLastRelease(join(folder, 'last'), say, signal);
    const next = await buildNextRelease(join(folder, 'next'));
    return await runWithServer({
      // It needs none.
      obtainServer: async () => ({
        env: { LAST_RELEASE_FOLDER: last, NEXT_RELEASE_FOLDER: next },
        stop: async () => {},
      }),
      argv: [vitest, 'run', '--root', workspace, '--project', 'upgrades', ...process.argv.slice(2)],
      signal,
    });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
