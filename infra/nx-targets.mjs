// Nx plugin: every project under libs/, libs/modules/ and services/ has the targets `test` and `lint`. Types are one target of the root.
import { dirname } from 'node:path';

/** @public */
export const createNodesV2 = [
  '{libs,libs/modules,services}/*/package.json',
  (files) =>
    files.map((file) => {
      const root = dirname(file);
      const targets = {
        test: { command: `vitest run --project pure --project real ${root}/` },
        lint: { command: `eslint ${root}` },
      };
      return [file, { projects: { [root]: { targets } } }];
    }),
];
