import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { workspace } from '../copy-workspace.ts';
import { plantedBugs } from './planted-bugs.ts';

// One whose source had changed was noticed only when it was to be planted, minutes into a run.
it.each(plantedBugs)('$name fits the source that it is planted in', ({ file, from, to }) => {
  expect(readFileSync(join(workspace, file), 'utf8').split(from)).toHaveLength(2);
  expect(to).not.toBe(from);
});
