/** The one rule that separates the payments, payouts and refunds of teams. */
import type { Requester } from './requester.ts';

const tokenPattern = /^[A-Za-z0-9_-]{1,128}$/;

/** The characters of a token: any other text has no owner and never becomes part of a stream's name. */
export const isToken = (text: string): boolean => tokenPattern.test(text);

/** Objects of another team, or of the same team in the other environment, do not exist for a caller. */
export const isOwnedBy = (
  { environment, team }: { environment: string; team?: string | undefined },
  caller: Pick<Requester, 'environment' | 'team'>,
): boolean => team === caller.team && environment === caller.environment;
