import { DatabaseSync } from 'node:sqlite';
import { beginning, type Position } from '@tollgate/event-store';
import { temporaryFile } from '@tollgate/event-store/testing';
import { silentLog } from '@tollgate/service-kit';
import { describe, expect, it, onTestFinished } from 'vitest';
import { openIndexFile } from './open-index-file.ts';

const progress = { followed: '7' as Position, source: beginning };

/** An index that somebody has written under a start of the machine. */
async function givenIndex() {
  const path = await temporaryFile();
  const open = (boot: string | undefined) => {
    const file = openIndexFile(path, silentLog, {}, boot);
    const closing = new DisposableStack();
    closing.defer(() => file.close());
    onTestFinished(() => closing.dispose());
    return { ...file, close: () => closing.dispose() };
  };
  const first = open('boot-1');
  first.apply([], progress);
  /** What is on the disk when the process ends without closing it. */
  const followedIfOpenedUnder = (boot: string | undefined) => open(boot).progress().followed;
  return { path, first, followedIfOpenedUnder };
}

describe('an index that was written without waiting for the disk', () => {
  it('is gone on with after the end of a process', async () => {
    const { followedIfOpenedUnder } = await givenIndex();
    expect(followedIfOpenedUnder('boot-1')).toBe('7');
  });

  it.each(['boot-2', undefined])(
    'is rebuilt where the machine went down while it was open (%s)',
    async (boot) => {
      const { followedIfOpenedUnder } = await givenIndex();
      expect(followedIfOpenedUnder(boot)).toBe(beginning);
    },
  );

  it('is gone on with after the machine went down where it had been closed', async () => {
    const { first, followedIfOpenedUnder } = await givenIndex();
    first.close();
    expect(followedIfOpenedUnder('boot-2')).toBe('7');
  });

  it('is not called closed while something of it is not in its file', async () => {
    const { path, first, followedIfOpenedUnder } = await givenIndex();
    const reader = new DatabaseSync(path, { readOnly: true });
    reader.exec('BEGIN; SELECT * FROM progress;');
    first.apply([], { ...progress, followed: '8' as Position });
    first.close();
    reader.close();
    expect(followedIfOpenedUnder('boot-2')).toBe(beginning);
  });

  it('waits for the disk where the system does not tell its starts', async () => {
    const path = await temporaryFile();
    const file = openIndexFile(path, silentLog, {}, undefined);
    file.apply([], progress);
    file.close();
    expect(openIndexFile(path, silentLog, undefined, 'boot-2').progress().followed).toBe('7');
  });
});
