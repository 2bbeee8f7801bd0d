/** Questions to the Payment Service, so many at a time per account: one that hangs holds up nobody's looks but its own. */
import type { CallOutcome, PaymentServiceClient } from '@tollgate/payment-api';
import type { Environment } from '@tollgate/payment-domain';
import type { Log } from '@tollgate/service-kit';
import type { Accounts } from '../accounts/accounts.ts';

/** Questions to one account under way at once, and that wait for their turn. */
const questionsAtOnceMax = 8;
const waitingMax = 2_000;

export interface AccountName {
  environment: Environment;
  account: string;
}

export type Asked<Answer> =
  | CallOutcome<Answer>
  /** The account is not configured any more. */
  | { kind: 'account-missing' }
  /** The process stops, or too many wait already: this says nothing about the account. */
  | { kind: 'not-asked' };

/** The part of the client that changes nothing at the service. */
export type QuestionClient = Pick<
  PaymentServiceClient,
  'retrievePayment' | 'retrievePayout' | 'listPayments' | 'listPayouts'
>;

/** Never rejects: a fault of the connector is an unknown outcome. */
export type AskAccount = <Answer>(
  account: AccountName,
  question: (client: QuestionClient) => Promise<CallOutcome<Answer>>,
) => Promise<Asked<Answer>>;

/** @param stopping aborted when the process stops: what waits then is not asked any more */
export function createAskAccount({
  accounts,
  stopping,
  log,
}: {
  accounts: Pick<Accounts, 'clientOf'>;
  stopping: AbortSignal;
  log: Log;
}): AskAccount {
  const placesOf = new Map<string, Places>();

  function placesAt({ environment, account }: AccountName): Places {
    const key = `${environment}/${account}`;
    const places = placesOf.get(key) ?? createPlaces(stopping);
    placesOf.set(key, places);
    return places;
  }

  return async (name, question) => {
    const client = accounts.clientOf(name.environment, name.account);
    if (client === undefined) return { kind: 'account-missing' };
    const places = placesAt(name);
    if (!(await places.enter())) return { kind: 'not-asked' };
    try {
      return await question(client);
    } catch (error) {
      log.error({ error, account: name.account, operation: 'look' }, 'the connector failed');
      return { kind: 'unknown', reason: 'the connector failed' };
    } finally {
      places.leave();
    }
  };
}

interface Places {
  /** True once there is a place; false where there will be none. */
  enter(): Promise<boolean>;
  leave(): void;
}

/** The others wait in order. */
function createPlaces(stopping: AbortSignal): Places {
  let free = questionsAtOnceMax;
  const queue: ((isIn: boolean) => void)[] = [];
  stopping.addEventListener('abort', () => queue.splice(0).forEach((resolve) => resolve(false)));
  return {
    async enter() {
      if (stopping.aborted) return false;
      if (free > 0) {
        free -= 1;
        return true;
      }
      if (queue.length >= waitingMax) return false;
      return new Promise((resolve) => queue.push(resolve));
    },
    leave() {
      const next = queue.shift();
      if (next === undefined) free += 1;
      else next(true);
    },
  };
}
