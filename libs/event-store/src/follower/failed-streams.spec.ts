import { silentLog, type Log } from '@tollgate/service-kit';
import { expect, test, vi } from 'vitest';
import { createFailedStreams, failedStreamsMax, failureAt } from './failed-streams.ts';

const failureOf = (stream: string) => failureAt({ stream, revision: 3 }, new Error('of no code'));

test('those of the checkpoint are known and not logged again, new ones are logged once', () => {
  const error = vi.fn<Log['error']>();
  const known = { stream: 'payment-p1', revision: 1, code: 'event_undecodable' };
  const failed = createFailedStreams({ ...silentLog, error }, [known]);
  expect([failed.has('payment-p1'), failed.has('payment-p2')]).toEqual([true, false]);
  failed.add(failureOf('payment-p2'));
  expect(failed.list()).toEqual([known, { stream: 'payment-p2', revision: 3, code: 'event_undecodable' }]);
  expect(error.mock.calls).toMatchObject([[{ stream: 'payment-p2', revision: 3 }, expect.any(String)]]);
  failed.delete('payment-p1');
  expect(failed.has('payment-p1')).toBe(false);
});

test('more than a hundred are not skipped', () => {
  const failed = createFailedStreams(silentLog);
  for (let number = 0; number < failedStreamsMax; number += 1) failed.add(failureOf(`payment-p${number}`));
  failed.add(failureOf('payment-p1'));
  expect(() => failed.add(failureOf('payment-one-more'))).toThrow(
    expect.objectContaining({ code: 'too_many_failed_streams' }) as Error,
  );
});
