/** Simulates the effect of a power failure on a SQLite file that was written without waiting for the disk. */
import { readFileSync, writeFileSync } from 'node:fs';

const pageBytes = 4_096;

/**
 * Zeros the last page with one text and without another, like a page at the grown end of the file that had not reached the
 * disk.
 *
 * @throws RangeError if there is none
 */
export function zeroPageWith(file: string, text: string, not = 'nothing like this'): void {
  const bytes = readFileSync(file);
  const pages = Array.from({ length: bytes.byteLength / pageBytes - 1 }, (_, page) =>
    bytes.subarray((page + 1) * pageBytes, (page + 2) * pageBytes),
  );
  const lost = pages.findLast((page) => page.includes(text) && !page.includes(not));
  if (lost === undefined) throw new RangeError(`no page of ${file} has ${text}`);
  lost.fill(0);
  writeFileSync(file, bytes);
}
