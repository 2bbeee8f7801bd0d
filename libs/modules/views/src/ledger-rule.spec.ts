import { expect, test } from 'vitest';
import { ledgerRuleOf } from './ledger-rule.ts';
import { foldRules, viewKinds } from './view-kinds.ts';

test('the form of the index includes the booking rule', () => {
  expect(foldRules).toContain(ledgerRuleOf(viewKinds));
});

// Two commits had changed the rule and not the version: the index mixed sums of both.
test('a changed rule has another hash', () => {
  const changed = viewKinds.map((kind) => {
    const { standingsOf } = kind;
    if (kind.name !== 'payment' || standingsOf === undefined) return kind;
    return {
      ...kind,
      standingsOf: (view: Parameters<typeof standingsOf>[0]) =>
        standingsOf(view).map((each) => ({ ...each, amounts: { ...each.amounts, reserved: 0n } })),
    };
  });
  expect(ledgerRuleOf(changed)).not.toBe(ledgerRuleOf(viewKinds));
});
