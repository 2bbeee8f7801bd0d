import type { Environment, Inquirer, InquiryOutcome, Cause, AskAccount } from '@tollgate/core';
import { type Clock, TollgateError } from '@tollgate/service-kit';

/**
 * Retries until there is an answer; undefined if the provider has nothing under the token.
 *
 * @throws TollgateError `provider_not_answering`, `provider_refused`, `stopped`
 */
export type Ask = <Answer>(
  inquiry: (provider: Inquirer) => Promise<InquiryOutcome<Answer>>,
) => Promise<Answer | undefined>;

/** Pauses between tries: together about a minute. @unit milliseconds */
const pausesMs = [1_000, 2_000, 5_000, 10_000, 20_000, 20_000];

export function askPatiently(
  { askAccount, clock }: { askAccount: AskAccount; clock: Clock },
  { environment, account }: { environment: Environment; account: string },
  { cause, signal, onWait }: { cause: Cause; signal: AbortSignal; onWait: (pauseMs: number) => void },
): Ask {
  return async (inquiry) => {
    for (let tries = 0; ; tries += 1) {
      if (signal.aborted) throw stopped();
      const outcome = await askAccount({ environment, account }, cause, inquiry);
      if (outcome.kind === 'accepted') return outcome.answer;
      if (outcome.kind === 'missing') return undefined;
      if (outcome.kind === 'refused') throw refused(account, outcome.errors);
      const pauseMs = pausesMs[tries];
      if (pauseMs === undefined) throw notAnswering(account);
      onWait(pauseMs);
      await clock.sleep(pauseMs, signal).catch(() => undefined);
    }
  };
}

const stopped = () => new TollgateError('stopped', 'Stopped; start it again, and it continues.');

const refused = (account: string, errors: readonly { code: string }[]) => {
  const codes = errors.map(({ code }) => code).join(', ') || 'without a code';
  return new TollgateError(
    'provider_refused',
    `The account ${account} is refused by its provider (${codes}); set its address and private key right and start again.`,
  );
};

const notAnswering = (account: string) =>
  new TollgateError(
    'provider_not_answering',
    `The provider of the account ${account} gives no answer; start again once it does, and it continues.`,
    { retryable: true },
  );
