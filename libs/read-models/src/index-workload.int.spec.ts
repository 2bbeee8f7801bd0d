import { beginning, type Position } from '@tollgate/event-store';
import { silentLog } from '@tollgate/service-kit';
import { expect, onTestFinished, test } from 'vitest';
import { streamOf, type DocumentEnvelope, type DocumentKind } from './document-kind.ts';
import { paymentKind, payoutKind } from './document-kinds.ts';
import type { IndexFile, IndexedDocument } from './index-file.ts';
import { workloadIn } from './index-workload.ts';
import { openIndexFile } from './open-index-file.ts';
import {
  happening,
  payoutHappening,
  payoutRequested,
  requested,
  toRecordedIn,
  type AnyEvent,
} from './testing/index.ts';

const { accepted, approved, attention, attentionResolved } = happening;

function documentOf(kind: DocumentKind, token: string, events: readonly AnyEvent[]): IndexedDocument {
  const document = toRecordedIn(streamOf(kind, token), events).reduce<DocumentEnvelope | undefined>(
    (before, event) => kind.fold(before, event),
    undefined,
  )!;
  return { kind, document };
}

function givenFile(): IndexFile {
  const file = openIndexFile(':memory:', silentLog);
  onTestFinished(() => file.close());
  return file;
}

const progress = { followed: '1' as Position, source: beginning };

test('counts what is open and what waits for a person, of all teams, and no longer what has ended', () => {
  const file = givenFile();
  expect(workloadIn(file)).toEqual({ open: [], attention: [] });
  const documents = [
    documentOf(paymentKind, 'pay_1', [requested()]),
    documentOf(paymentKind, 'pay_2', [requested({ team: 'games' }), accepted]),
    documentOf(paymentKind, 'pay_3', [requested(), accepted, attention]),
    documentOf(paymentKind, 'pay_4', [requested(), accepted, approved, attention, attention]),
    documentOf(payoutKind, 'po_1', [payoutRequested(), payoutHappening.attention]),
  ];
  file.apply(documents, progress);
  const { open, attention: waiting } = workloadIn(file);
  expect(open).toHaveLength(3);
  expect(open).toEqual(
    expect.arrayContaining([
      { kind: 'payment', openWork: 'unresolved', count: 1 },
      { kind: 'payment', openWork: 'open', count: 2 },
      { kind: 'payout', openWork: 'unresolved', count: 1 },
    ]),
  );
  expect(waiting).toEqual([
    { kind: 'payment', environment: 'sandbox', count: 3 },
    { kind: 'payout', environment: 'sandbox', count: 1 },
  ]);
  file.apply(
    [documentOf(paymentKind, 'pay_3', [requested(), accepted, attention, attentionResolved])],
    progress,
  );
  expect(workloadIn(file).attention[0]).toEqual({ kind: 'payment', environment: 'sandbox', count: 2 });
});
