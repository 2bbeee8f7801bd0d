/** What gateway, topics, views and ledger say in the end: one line for each invariant. */
import { tollgateExit } from '../commands.ts';
import { type Ledger, type Shown, historyOf, ledgerOf, typesOf } from '../ledger.ts';
import type { Load } from '../mixed-load.ts';
import type { CallGateway } from '../system.ts';
import { kafkaReaderOf, sequencesIn, storeOf } from '../topic.ts';
import { type Kind, type Operation, differences, overRefunded, twice } from './invariants.ts';
import type { Tortured } from './tortured.ts';

export interface Finding {
  invariant: string;
  /** How many were compared. */
  count: number;
  wrong: readonly string[];
  /** Where it is wrong, it stays wrong: nobody has to wait. */
  isFinal?: true;
}

/** Everything that was ever created, by the lists. */
async function allOf(gateway: CallGateway, kind: Kind): Promise<Operation[]> {
  const all: Operation[] = [];
  for (let cursor: string | undefined = ''; cursor !== undefined;) {
    const path: string = `/api/v1/${kind}s?perPage=500${cursor === '' ? '' : `&cursor=${cursor}`}`;
    const { statusCode, body } = await gateway('GET', path);
    if (statusCode !== 200) throw new Error(`${path} was answered ${statusCode}: ${JSON.stringify(body)}`);
    const page = body as unknown as { payments?: Shown[]; payouts?: Shown[]; nextCursor?: string };
    const rows = kind === 'payment' ? page.payments : page.payouts;
    all.push(...(rows ?? []).map((each) => ({ ...each, kind })));
    cursor = page.nextCursor;
  }
  return all;
}

const announcements = { refund: 'RefundSubmitted', confirm: 'CaptureSubmitted', decline: 'VoidSubmitted' };

/** I3, I4: no call reached the service more often than it was announced. */
async function unannounced(
  gateway: CallGateway,
  operations: readonly Operation[],
  { calls, payments }: Ledger,
): Promise<string[]> {
  const creations = calls.flatMap(({ operation, orderNumber }) =>
    operation === 'create' || operation === 'payout' ? [`${operation} ${orderNumber ?? ''}`] : [],
  );
  const wrong = creations.filter((each, index) => creations.indexOf(each) !== index);
  for (const { token, kind } of operations.filter((each) => each.kind === 'payment')) {
    const there = payments.filter(({ orderNumber }) => orderNumber.startsWith(`${token}.`));
    const types = typesOf(await historyOf(gateway, kind, token));
    for (const [operation, announcement] of Object.entries(announcements)) {
      const made = calls.filter(
        (call) => call.operation === operation && there.some((each) => each.token === call.token),
      ).length;
      const announced = types.filter((type) => type === announcement).length;
      if (made > announced) wrong.push(`${operation} of ${token}: sent ${made}, announced ${announced}`);
    }
  }
  return wrong;
}

/** I7: the topics have each event once, in the order of its stream, and nothing else. */
async function wrongOnTopics(tortured: Tortured): Promise<{ count: number; wrong: string[] }> {
  const store = await storeOf(tortured.gateway());
  try {
    const { published, stored } = await sequencesIn(store, kafkaReaderOf(tortured.gateway()));
    const tokens = new Set([...Object.keys(published), ...Object.keys(stored)]);
    const differs = (token: string) => String(published[token]) !== String(stored[token]);
    return { count: tokens.size, wrong: [...tokens].filter(differs) };
  } finally {
    await store.close();
  }
}

async function wrongViews(tortured: Tortured): Promise<string[]> {
  const { exitCode, stdout, stderr } = await tollgateExit(tortured.gateway(), 'rebuild', '--check');
  return exitCode === 0 ? [] : [`${stdout}${stderr}`.trim()];
}

/** What `/readyz` still names, of any gateway. */
async function unready(tortured: Tortured): Promise<string[]> {
  const answers = tortured.gateways().map(({ gateway }) => gateway('GET', '/readyz'));
  return (await Promise.all(answers)).flatMap(({ statusCode, body }) => {
    const { notReady, degraded } = body as unknown as { notReady: string[]; degraded: string[] };
    const isReady = statusCode === 200 && notReady.length + degraded.length === 0;
    return isReady ? [] : [`${statusCode}: ${[...notReady, ...degraded].join(', ')}`];
  });
}

const secretsIn = ({ output, host: { quickstart } }: Tortured): string[] =>
  [quickstart.paymentServiceKey, quickstart.apiKey].filter((secret) => output().includes(secret));

/** Reads and compares everything. */
export async function compare(tortured: Tortured, load: Load): Promise<Finding[]> {
  const { gateway } = tortured.gateway();
  const operations = [...(await allOf(gateway, 'payment')), ...(await allOf(gateway, 'payout'))];
  const ledger = await ledgerOf(tortured.host.sandbox);
  const known = new Set(operations.map(({ token }) => token));
  const lost = load.outcomes.filter(({ token }) => !known.has(token)).map(({ token }) => token);
  const [topics, views] = [await wrongOnTopics(tortured), await wrongViews(tortured)];
  const all = operations.length;
  return [
    {
      isFinal: true,
      invariant: 'I1 nobody is charged or paid twice',
      count: ledger.payments.length,
      wrong: twice(ledger),
    },
    {
      isFinal: true,
      invariant: 'I2 no more is refunded than was paid',
      count: all,
      wrong: overRefunded(ledger),
    },
    {
      invariant: 'I3, I4 each call was announced, and sent once',
      count: ledger.calls.length,
      wrong: await unannounced(gateway, operations, ledger),
    },
    { invariant: 'I5 what was answered 2xx is there', count: load.outcomes.length, wrong: lost },
    { invariant: 'I7 topics have each event once, in order', ...topics },
    { invariant: 'I8 views are what the events say', count: all, wrong: views },
    {
      invariant: 'I9 gateway and ledger agree, or a person is asked',
      count: all,
      wrong: differences(operations, ledger),
    },
    {
      isFinal: true,
      invariant: 'I10 one key has one answer',
      count: load.answered,
      wrong: load.contradictions,
    },
    { isFinal: true, invariant: 'I13 no key in what was printed', count: 2, wrong: secretsIn(tortured) },
    { invariant: 'all is ready again', count: tortured.gateways().length, wrong: await unready(tortured) },
    { isFinal: true, invariant: 'nothing ended that nobody killed', count: 1, wrong: tortured.ownEnds() },
  ];
}

/** The reviews that are open, by their code. */
export async function reviewCounts(tortured: Tortured): Promise<Map<string, number>> {
  const { body } = await tortured.gateway().gateway('GET', '/api/v1/reviews?perPage=500');
  const { reviews } = body as unknown as { reviews: { code: string }[] };
  const counts = new Map<string, number>();
  for (const { code } of reviews) counts.set(code, (counts.get(code) ?? 0) + 1);
  return counts;
}
