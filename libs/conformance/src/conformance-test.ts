/** A conformance test, and the three ways in which it does not pass. */
import type { Peer } from './peer.ts';

/** Requirements of a test besides the interface itself: the message of {@link Unmet} if one is missing. */
export const needs = {
  sandbox: 'needs the sandbox controls, to act as the customer: give --sandbox',
  faults: 'needs the sandbox controls at the base URL itself, to make the service fail: give --sandbox',
  clock: "needs leave to move the sandbox's clock: give --sandbox --move-clock",
  callbacks: 'needs callbacks that reach this machine: leave out --no-callbacks',
  plainHttp: 'needs the address of plain HTTP: give --http-url',
  otherKey: 'needs a key of the other environment: give --other-key',
} as const;

/**
 * `specification`: the specification requires it. `decision`: it leaves the point open, and this project has decided
 * it; another deployment may differ and still conform.
 */
export type Basis = 'specification' | 'decision';

export interface ConformanceTest {
  /** The section, then the rule: `§4 POST /api/v1/payments answers HTTP 200 with the payment token`. */
  name: string;
  basis: Basis;
  /** Requirements of a specified rule that the specification does not show. */
  relies?: string;
  /** Throws `Violation` if the rule is broken, `Unmet` if it could not be tested. */
  run(peer: Peer): Promise<unknown>;
}

/** The service breaks the rule. */
export class Violation extends Error {}

/** The rule could not be tested; the message names the requirement. */
export class Unmet extends Error {}

type Run = ConformanceTest['run'];
interface Declare {
  (rule: string, run: Run): ConformanceTest;
  (rule: string, relies: string, run: Run): ConformanceTest;
}

/** Declares the tests of one section. */
export const section = (number: number) => {
  const declare =
    (basis: Basis): Declare =>
    (rule: string, ...[relies, run]: [Run] | [string, Run]): ConformanceTest =>
      typeof relies === 'string'
        ? { name: `§${number} ${rule}`, basis, relies, run: run as Run }
        : { name: `§${number} ${rule}`, basis, run: relies };
  return { specified: declare('specification'), decided: declare('decision') };
};

/** @throws Violation with `message` if `holds` is false */
export function check(holds: boolean, message: string): asserts holds {
  if (!holds) throw new Violation(message);
}

/** Decisions needed to test specified rules, because the specification does not show how a call is written. */
export const refundNamesPayment = 'a refund names its payment in the field token';
export const twoStepIsAskedFor =
  'a two-step payment is created with needConfirmation: true, and confirmed or declined by its token';
export const payoutBody =
  'a payout has amount, currency, orderNumber and destination {bankAccount: {bankName, account}}';
export const balanceQuery = 'the currency of a balance is chosen by the query parameter currency';
export const pageAddress = 'the payment page has its address in the field processingUrl of the creation';
export const cardFields = 'card data is sent as card {pan, expires, holder, cvv}';
