/** What a conformance test is, and the three ways in which it does not pass. */
import type { Peer } from './peer.ts';

/** What a test needs besides the interface itself; where it is missing, the test is reported as not run. */
export const needs = {
  sandbox: 'the sandbox controls, to act as the customer: give --sandbox',
  faults: 'the sandbox controls at the base URL itself, to make the service fail: give --sandbox',
  clock: "leave to move the sandbox's clock: give --sandbox --move-clock",
  callbacks: 'callbacks that reach this machine: leave out --no-callbacks',
  plainHttp: 'the address of plain HTTP: give --http-url',
  otherKey: 'a key of the other environment: give --other-key',
} as const;
export type Need = keyof typeof needs;

/**
 * `specification`: the specification says so. `decision`: it leaves the point open, and this project has decided it;
 * another deployment may do otherwise and still conform.
 */
export type Basis = 'specification' | 'decision';

export interface ConformanceTest {
  /** The section, then the rule: `§4 POST /api/v1/payments answers HTTP 200 with the payment token`. */
  name: string;
  basis: Basis;
  needs: readonly Need[];
  /** What a specified rule can only be tested by, though the specification does not show it. */
  relies?: string;
  /** Throws `Violation` where the rule is broken, `Unmet` where it could not be tested. */
  run(peer: Peer): Promise<unknown>;
}

/** The service does not do what the rule says. */
export class Violation extends Error {}

/** The rule could not be tested, and the message says what that would need. */
export class Unmet extends Error {}

type Options = Partial<Pick<ConformanceTest, 'needs' | 'relies'>>;

/** Declares the tests of one section. */
export const section = (number: number) => {
  const declare =
    (basis: Basis) =>
    (rule: string, options: Options, run: ConformanceTest['run']): ConformanceTest => ({
      name: `§${number} ${rule}`,
      basis,
      needs: [],
      ...options,
      run,
    });
  return { specified: declare('specification'), decided: declare('decision') };
};

/** The section that a test belongs to, for example `§4`. */
export const sectionOf = ({ name }: Pick<ConformanceTest, 'name'>): string => name.split(' ', 1)[0] ?? name;

/** @throws Violation with `message` where `holds` is false. */
export function check(holds: boolean, message: string): asserts holds {
  if (!holds) throw new Violation(message);
}
