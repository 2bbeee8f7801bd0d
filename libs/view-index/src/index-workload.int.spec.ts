import { expect, onTestFinished, test } from 'vitest';
import { streamOf, type ViewEnvelope, type ViewKind, paymentKind, payoutKind } from '@tollgate/views';

import type { IndexedView } from './index-writer.ts';
import { workloadIn } from './index-workload.ts';
import { openIndexFile, type TestIndexFile } from './testing/open-index-file.ts';

import {
  happening,
  requested,
  payoutHappening,
  payoutRequested,
  toRecordedIn,
  type AnyEvent,
} from '@tollgate/views/testing';

const { accepted, approved, reviews, reviewResolved } = happening;

function viewOf(kind: ViewKind, token: string, events: readonly AnyEvent[]): IndexedView {
  const view = toRecordedIn(streamOf(kind, token), events).reduce<ViewEnvelope | undefined>(
    (before, event) => kind.fold(before, event),
    undefined,
  )!;
  return { kind, view };
}

function givenFile(): TestIndexFile {
  const file = openIndexFile(':memory:');
  onTestFinished(() => file.close());
  return file;
}

test('counts open work and open reviews of all teams, and no longer what has ended', () => {
  const file = givenFile();
  expect(workloadIn(file)).toEqual({ open: [], reviews: [] });
  const views = [
    viewOf(paymentKind, 'pay_1', [requested()]),
    viewOf(paymentKind, 'pay_2', [requested({ team: 'games' }), accepted]),
    viewOf(paymentKind, 'pay_3', [requested(), accepted, reviews]),
    viewOf(paymentKind, 'pay_4', [requested(), accepted, approved, reviews, reviews]),
    viewOf(payoutKind, 'po_1', [payoutRequested(), payoutHappening.reviews]),
  ];
  file.plant(views);
  const { open, reviews: waiting } = workloadIn(file);
  expect(open).toHaveLength(4);
  expect(open).toEqual(
    expect.arrayContaining([
      { kind: 'payment', inquiryNeed: 'unresolved', count: 1 },
      { kind: 'payment', inquiryNeed: 'open', count: 2 },
      { kind: 'payment', inquiryNeed: 'settled', count: 1 },
      { kind: 'payout', inquiryNeed: 'unresolved', count: 1 },
    ]),
  );
  expect(waiting).toEqual([
    { kind: 'payment', environment: 'sandbox', count: 3 },
    { kind: 'payout', environment: 'sandbox', count: 1 },
  ]);
  file.plant([viewOf(paymentKind, 'pay_2', [requested(), accepted, approved])]);
  // Seen a second time, it is not counted a second time.
  file.plant([viewOf(paymentKind, 'pay_2', [requested(), accepted, approved])]);
  expect(workloadIn(file).open).toEqual(
    expect.arrayContaining([
      { kind: 'payment', inquiryNeed: 'open', count: 1 },
      { kind: 'payment', inquiryNeed: 'settled', count: 2 },
    ]),
  );
  file.plant([viewOf(paymentKind, 'pay_3', [requested(), accepted, reviews, reviewResolved])]);
  expect(workloadIn(file).reviews[0]).toEqual({ kind: 'payment', environment: 'sandbox', count: 2 });
});
