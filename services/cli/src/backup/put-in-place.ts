/**
 * Restores a backup into an empty data directory. Until its epoch has begun, `restoring` prevents a gateway from
 * starting there.
 */
import { copyFileSync, existsSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { flush, restoringName } from '@tollgate/gateway/configuration';
import { TollgateError, makeFolder } from '@tollgate/service-kit';
import { verifyBackup } from './verify-backup.ts';

/**
 * @returns a function that ends the restore @throws TollgateError `backup_damaged`, `data_dir_not_empty`,
 * `backup_missing`
 */
export async function putInPlace(backup: string, dataDir: string): Promise<() => void> {
  const [folder, directory] = [resolve(backup), resolve(dataDir)];
  const present = existsSync(directory) ? readdirSync(directory) : [];
  if (present.length > 0 && !present.includes(restoringName))
    throw new TollgateError(
      'data_dir_not_empty',
      `TOLLGATE_DATA_DIR is ${directory}, which is not empty: stop every process, move the directory away, and restore again.`,
    );
  const { signal } = new AbortController();
  const { manifest, findings } = await verifyBackup({ folder, signal, onProgress: () => undefined });
  if (findings.length > 0)
    throw new TollgateError(
      'backup_damaged',
      `${folder} is not a valid backup: backup verify reports ${findings.length} findings.`,
    );
  makeFolder(directory);
  const marker = join(directory, restoringName);
  writeFileSync(marker, `${folder}\n`, { mode: 0o600, flush: true });
  flush(directory);
  // Left over from an interrupted attempt.
  for (const name of present) if (name !== restoringName) rmSync(join(directory, name), { recursive: true });
  for (const { name } of manifest.files) {
    copyFileSync(join(folder, name), join(directory, name));
    flush(join(directory, name));
  }
  flush(directory);
  return () => {
    rmSync(marker);
    flush(directory);
  };
}
