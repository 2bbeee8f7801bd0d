/** A copy of the workspace's sources, linked to the installed packages, that can be changed and run. */
import { cp, glob, mkdir, readdir, symlink } from 'node:fs/promises';
import { basename, join } from 'node:path';

export const workspace = join(import.meta.dirname, '..');
const notCopied = new Set(['node_modules', '.git', '.nx', '.data', '.cache', 'coverage']);

/** Copies the sources into a folder, which may exist, and links the installed packages. */
export async function copyWorkspace(copy: string): Promise<void> {
  await cp(workspace, copy, { recursive: true, filter: (source) => !notCopied.has(basename(source)) });
  await linkInstalled(copy);
}

/** The workspace's own packages must resolve to the copy. */
export async function linkInstalled(copy: string): Promise<void> {
  const installed = join(workspace, 'node_modules');
  await mkdir(join(copy, 'node_modules'));
  for (const name of await readdir(installed)) {
    if (name === '@tollgate') {
      await cp(join(installed, name), join(copy, 'node_modules', name), {
        recursive: true,
        verbatimSymlinks: true,
      });
    } else await symlink(join(installed, name), join(copy, 'node_modules', name));
  }
  for await (const own of glob('{libs,libs/modules,services}/*/node_modules', { cwd: workspace }))
    await symlink(join(workspace, own), join(copy, own));
}
