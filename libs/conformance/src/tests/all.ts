import type { ConformanceTest } from '../conformance-test.ts';
import { authenticationTests } from './authentication.ts';
import { callbackTests } from './callbacks.ts';
import { errorTests, versioningTests } from './errors.ts';
import { fieldTests } from './fields.ts';
import { flowTests } from './flow.ts';
import { moneyTests } from './money.ts';
import { paymentTests } from './payments.ts';
import { stateTests } from './states.ts';

/** Every test, in the order of the specification. */
export const conformanceTests: readonly ConformanceTest[] = [
  ...flowTests,
  ...fieldTests,
  ...stateTests,
  ...paymentTests,
  ...moneyTests,
  ...authenticationTests,
  ...callbackTests,
  ...errorTests,
  ...versioningTests,
];
