import { existsSync, mkdirSync } from 'node:fs';
import { dirname, resolve } from 'node:path';

/**
 * Creates a folder and its missing parents, private to the owner.
 *
 * Folder by folder: if one is refused with ENOENT, as below `/proc`, Node's own `recursive` never ends.
 *
 * @throws the file system's error if one of them cannot be created
 */
export function makeFolder(folder: string): void {
  const path = resolve(folder);
  if (existsSync(path)) return;
  makeFolder(dirname(path));
  try {
    mkdirSync(path, { mode: 0o700 });
  } catch (error) {
    // Another start may have been faster.
    if (!existsSync(path)) throw error;
  }
}
