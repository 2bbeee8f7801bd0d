/** Whose a payment, payout or refund is: the one rule that keeps a team's objects from the others. */
import type { Requester } from './requester.ts';

const tokenPattern = /^[A-Za-z0-9_-]{1,128}$/;

/** Of what a token may be made: anything else is nobody's token, and never becomes part of a stream's name. */
export const isToken = (text: string): boolean => tokenPattern.test(text);

/** What another team owns, or the same team in the other environment, is to a caller as if it did not exist. */
export const isOwnedBy = (
  { environment, team }: { environment: string; team?: string | undefined },
  caller: Pick<Requester, 'environment' | 'team'>,
): boolean => team === caller.team && environment === caller.environment;
