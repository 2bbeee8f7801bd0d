import { expect, test } from 'vitest';
import { ledgerRuleOf } from './testing/ledger-samples.ts';
import { viewSchemaVersion } from './view-kind.ts';
import { viewKinds } from './view-kinds.ts';

// Two commits had changed the rule and not the version: the index mixed sums of both. An index of another version is rebuilt,
// so a new hash here needs a new version.
test('a change of the booking rule raises the version of the views', () => {
  expect([viewSchemaVersion, ledgerRuleOf(viewKinds)]).toEqual([1, '188870d1932e2bf3']);
});
