import { existsSync, mkdirSync } from 'node:fs';
import { dirname, resolve } from 'node:path';

/**
 * Makes a folder, and those above it that are missing, for its owner only.
 *
 * Folder by folder: if one is refused with ENOENT, as below `/proc`, Node's own `recursive` tries indefinitely.
 *
 * @throws the error of the file system if one of them cannot be made
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
