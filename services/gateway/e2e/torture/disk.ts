/** A folder on a disk of its own, which can be full without the machine's being so. */
import { spawnSync } from 'node:child_process';
import { closeSync, openSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';

export interface Disk {
  /** Takes what is left of it, to the last byte. */
  fill(): void;
  /** Gives that back. */
  free(): void;
}

const disks = new Set<string>();

/** Mounts a disk of this size on an empty folder. Undefined where this user may not, or the system cannot. */
export function openDisk(folder: string, sizeInMiB: number): Disk | undefined {
  const options = `size=${sizeInMiB}m,mode=0700`;
  const { status } = spawnSync('mount', ['-t', 'tmpfs', '-o', options, 'tmpfs', folder], { stdio: 'ignore' });
  if (status !== 0) return undefined;
  disks.add(folder);
  const filling = join(folder, 'filling');
  return {
    fill: () => fillTo(filling),
    free: () => rmSync(filling, { force: true }),
  };
}

/** Call it when nothing runs on them any more; a process that still does keeps its disk, which nobody else sees. */
export function removeDisks(): void {
  for (const folder of disks) spawnSync('umount', ['--lazy', folder], { stdio: 'ignore' });
  disks.clear();
}

function fillTo(file: string): void {
  const descriptor = openSync(file, 'w');
  try {
    // Large pieces first, then what is smaller than them.
    for (const size of [1_048_576, 4_096]) while (writePiece(descriptor, size) === size);
  } finally {
    closeSync(descriptor);
  }
}

/** How much of it there was room for. */
function writePiece(descriptor: number, size: number): number {
  try {
    return writeSync(descriptor, Buffer.alloc(size));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error;
    return 0;
  }
}
