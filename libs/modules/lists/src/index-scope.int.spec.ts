/** The index of a command service: each further index of a column is written with every view. */
import { DatabaseSync } from 'node:sqlite';
import { temporaryFile } from '@tollgate/event-store/testing';
import { inquiryShardOf } from '@tollgate/core';
import { paymentKind, streamOf, type PaymentView } from '@tollgate/views';
import { happening, requested, toRecordedIn } from '@tollgate/views/testing';
import { expect, it, onTestFinished } from 'vitest';
import { dueQueuesOf } from './index-inquiries.ts';
import { listViews } from './index-lists.ts';
import { balancesIn } from './index-ledger.ts';
import type { IndexScope } from './index-schema.ts';
import { findByServiceToken } from './index-operators.ts';
import { openIndexFile, type TestIndexFile } from './testing/open-index-file.ts';

const { accepted, approved } = happening;
const never = Number.MAX_SAFE_INTEGER;
const token = 'pay_1';
const view = toRecordedIn(streamOf(paymentKind, token), [
  requested({ metadata: { shelf: 'B7' } }),
  accepted,
  approved,
]).reduce<PaymentView | undefined>((before, event) => paymentKind.fold(before, event), undefined)!;

async function given(scope: IndexScope): Promise<{ file: TestIndexFile; path: string }> {
  const path = await temporaryFile();
  const file = openIndexFile(path, { scope });
  onTestFinished(() => file.close());
  file.plant([{ kind: paymentKind, view }]);
  return { file, path };
}

/** The queries of a command service. */
function readForWork(file: TestIndexFile) {
  const { environment, team, attempt, serviceToken = '' } = view.payment;
  const { account } = attempt;
  const query = {
    environment,
    team,
    createdFrom: view.createdAt,
    createdBefore: view.createdAt + 1,
    perPage: 9,
  };
  return {
    due: dueQueuesOf(file, { shards: [inquiryShardOf(token)], now: never }),
    found: file.find(paymentKind, token),
    foundByServiceToken: findByServiceToken(file, { environment, account, serviceToken }),
    ofADay: listViews(file, { list: 'payments', kinds: [paymentKind], owners: [query], query }),
    balances: balancesIn(file, {
      environment,
      wallet: view.payment.wallet,
      currency: view.payment.terms.currency,
    }),
  };
}

it('for work answers its queries like one for lists', async () => {
  const [work, lists] = [await given('work'), await given('lists')];
  expect(readForWork(work.file)).toEqual(readForWork(lists.file));
  expect(readForWork(work.file).foundByServiceToken).toEqual({ token, team: view.payment.team });
});

it('for work has neither the indexes of lists nor metadata', async () => {
  const contents = ({ path }: { path: string }) => {
    const database = new DatabaseSync(path, { readOnly: true });
    onTestFinished(() => database.close());
    const sql =
      "SELECT name FROM sqlite_schema WHERE type = 'index' AND tbl_name = 'payments' AND sql IS NOT NULL";
    const indexes = database
      .prepare(sql)
      .all()
      .map(({ name }) => String(name));
    const metadata = database.prepare('SELECT count(*) AS count FROM payments_metadata').get();
    return { indexes: indexes.sort(), metadata: Number(metadata?.['count']) };
  };
  const [work, lists] = [contents(await given('work')), contents(await given('lists'))];
  const kept = ['payments_by_age', 'payments_by_need', 'payments_by_service_token', 'payments_due'];
  expect(work).toEqual({ indexes: kept, metadata: 0 });
  expect(lists.metadata).toBe(1);
  expect(lists.indexes).toEqual(expect.arrayContaining(kept));
  expect(lists.indexes.length).toBeGreaterThan(2 * kept.length);
});
