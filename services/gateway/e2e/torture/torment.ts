/** What befalls the tortured, one thing after the other, until the time is over. */
import { setTimeout as delay } from 'node:timers/promises';
import type { Chance } from './chance.ts';
import type { Tortured } from './tortured.ts';

export type Counts = Map<string, number>;

const operations = ['create', 'get', 'list', 'confirm', 'decline', 'refund', 'payout'];
const answerFaults = [
  ...['error_before', 'error_after', 'lost_reply', 'lost_reply', 'slow_reply'],
  ...['html_502', 'truncated_json', 'rate_limited'],
];
const callbackFaults = ['drop', 'duplicate', 'delay', 'reorder', 'before_reply'];

/** Each entry is as likely as the others. */
const kinds = ['kill', 'kill', 'stop', 'hold', 'cut', 'weather'] as const;

/** Until the signal; then everything runs and nothing fails any more. */
export async function torment(
  tortured: Tortured,
  chance: Chance,
  { signal, counts }: { signal: AbortSignal; counts: Counts },
): Promise<void> {
  const { relay, host } = tortured;
  const note = (what: string) => counts.set(what, (counts.get(what) ?? 0) + 1);
  const happen: Record<(typeof kinds)[number], () => Promise<unknown>> = {
    kill: () => tortured.killSomething(),
    stop: () => tortured.stopSomething(chance.between(500, 12_000)),
    hold: async () => {
      relay.hold();
      await delay(chance.between(200, 5_000));
      relay.letGo();
    },
    cut: async () => relay.cut(),
    weather: () => setWeather(tortured, chance),
  };
  await setWeather(tortured, chance);
  while (!signal.aborted) {
    await delay(chance.between(300, 4_000), undefined, { signal }).catch(() => undefined);
    const kind = chance.pick(kinds);
    await happen[kind]();
    note(kind);
  }
  await host.sandbox('DELETE', '/sandbox/faults');
}

/** How the Payment Service fails from now on. */
async function setWeather({ host }: Tortured, chance: Chance): Promise<void> {
  await host.sandbox('DELETE', '/sandbox/faults');
  const of = (operation: string, faults: readonly string[]) => ({
    ...{ operation, fault: chance.pick(faults), probability: chance.pick([0.05, 0.2, 0.5]) },
    delayMs: chance.whole(100, 4_000),
  });
  const faults = Array.from({ length: chance.whole(0, 4) }, () => of(chance.pick(operations), answerFaults));
  faults.push(of('callback', callbackFaults));
  const { statusCode, body } = await host.sandbox('POST', '/sandbox/faults', faults);
  if (statusCode !== 200) throw new Error(`the sandbox takes no faults: ${JSON.stringify(body)}`);
}
