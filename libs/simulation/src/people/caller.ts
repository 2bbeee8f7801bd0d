/** Somebody who asks the gateway: a team's system, or a person. What is not answered is asked again. */
import type { Ledger } from '../payment-service/ledger.ts';
import type { Random } from '../world/random.ts';
import type { Holder, TeamName } from './teams.ts';

export type Answer =
  | {
      kind: 'answer';
      statusCode: number;
      body: Record<string, unknown>;
      /** The process that has answered. */
      by: string;
      /** Up to where it goes (`Tollgate-Position`). */
      position: string | undefined;
    }
  | { kind: 'lost' };

export interface CallerRequest {
  team: TeamName | 'operator';
  /** Whose key it is; the team's first one unless given. */
  person?: Holder;
  method: 'GET' | 'POST' | 'PATCH';
  url: string;
  body?: object;
  key?: string;
  /** As `Tollgate-Min-Position`. */
  minPosition?: string;
}

export interface CallerWorld {
  random: Random;
  ledger: Ledger;
  /** To any of the processes; lost where it does not answer, or its answer does not arrive. */
  request(request: CallerRequest): Promise<Answer>;
  sleep(durationMs: number): Promise<void>;
  /** Until something is recorded of a payment, at most so long. */
  untilRecorded(token: string, atMostMs: number): Promise<void>;
  isInReview(token: string): boolean;
  /** True if the provider does not show that money is authorized. */
  hidesAuthorizations: boolean;
  /** Payouts that wait for a second key, by token: what is repeated once they are approved. */
  waiting: Map<string, CallerRequest>;
  tell(text: string): void;
  complain(invariant: string, text: string): void;
  /** Counts what must not be rare over a campaign. */
  saw(path: string): void;
  /** False once callers begin nothing more. */
  isOpen(): boolean;
}

/** What a team knows of a request that it may repeat. */
export interface Known {
  token: string | undefined;
}

const repeatsMax = 12;

/** Sends until there is an answer that says what happened; undefined where there was none. I10: always the same. */
export async function insist(
  world: CallerWorld,
  request: CallerRequest,
  known: Known,
): Promise<Extract<Answer, { kind: 'answer' }> | undefined> {
  for (let count = 0; count < repeatsMax && world.isOpen(); count += 1) {
    const answer = await world.request(request);
    if (answer.kind === 'answer' && answer.statusCode < 500 && answer.statusCode !== 429) {
      note(world, request, known, answer);
      if (answer.statusCode !== 202 || count > 3) return answer;
    } else if (count > 0) world.saw('repeated after no answer');
    await world.sleep(world.random.between(200, 8_000));
  }
  return undefined;
}

function note(
  world: CallerWorld,
  { url, key }: CallerRequest,
  known: Known,
  { statusCode, body }: Extract<Answer, { kind: 'answer' }>,
): void {
  const token = typeof body['token'] === 'string' ? body['token'] : undefined;
  if (statusCode >= 300 || token === undefined || key === undefined) return;
  if (known.token !== undefined && known.token !== token)
    world.complain('I10', `${url} under the key ${key} was answered with ${known.token}, then with ${token}`);
  known.token = token;
}

export const post = (
  team: CallerRequest['team'],
  url: string,
  body: object,
  key?: string,
): CallerRequest => ({
  team,
  method: 'POST',
  url: `/api/v1/${url}`,
  body,
  ...(key === undefined ? {} : { key }),
});

export const codesOf = ({ errors }: Record<string, unknown> = {}): string[] =>
  Array.isArray(errors) ? (errors as { code: string }[]).map(({ code }) => code) : [];
