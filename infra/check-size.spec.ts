import { expect, test } from 'vitest';
import { kindsOf } from './check-size.ts';

test.each([
  ['libs/core/src/tokens.ts', ['source', 'core']],
  ['services/cli/src/main.ts', ['source']],
  ['libs/core/src/tokens.spec.ts', ['tests']],
  ['libs/core/src/testing/harness.ts', ['tests']],
  ['libs/event-store/src/testing/append.contract.ts', ['tests']],
  ['services/gateway/e2e/browser/console.browser.ts', ['tests']],
  ['services/gateway/bench/creation.ts', ['tests']],
  ['libs/simulation/src/phases.ts', ['simulation']],
  ['libs/simulation/src/simulation.int.spec.ts', ['tests']],
  ['infra/bench.ts', []],
  ['libs/core/README.md', []],
])('%s counts as %j', (path, kinds) => {
  expect(kindsOf(path)).toEqual(kinds);
});
