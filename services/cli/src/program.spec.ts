import { describe, expect, it } from 'vitest';
import { runOpening } from './testing/run-with.ts';

/** Runs a command line of space-separated arguments; there is no store to open. */
async function run(command: string | string[]) {
  const data = { opened: 0, closed: 0 };
  const open = async () => {
    data.opened += 1;
    return { tools: {} as never, close: async () => void (data.closed += 1) };
  };
  return { ...(await runOpening(open, command === '' ? [] : command)), ...data };
}

describe('an invalid call exits with 2 and one sentence, and opens nothing', () => {
  it.each([
    ['pay', "'pay'"],
    ['team lst', "'lst'"],
    ['team add', "'name'"],
    ['team add Shop', "'Shop'"],
    ['team add shop games', "'add'"],
    ['team add shop --force', "'--force'"],
    ['team allow-origins shop', '--callback'],
    ['team allow-origins --callback https://shop.example shop', "'team'"],
    ['team wallet shop', '--shared'],
    ['team limit shop --environment sandbox --operation payout --currency EUR', '--per-call'],
    ['team limit shop --environment sandbox --operation payout --currency EUR --per-day 0', '--per-day'],
    ['team approval shop --environment sandbox --currency EUR', '--above'],
    ['team approval shop --environment sandbox --currency EUR --above 1.5', '--above'],
    ['team approval shop --environment sandbox --currency EUR --above 1 --none', '--none'],
    ['team wallet shop --own --shared group', '--own'],
    ['key issue shop', '--environment'],
    ['key issue shop --environment test --scopes read', 'sandbox, production'],
    ['key issue shop --environment sandbox --scopes root', 'payments, refunds'],
    ['key issue shop --environment sandbox --scopes read --requests-per-second 0', '--requests-per-second'],
    ['key issue shop --environment sandbox --scopes read --expires soon', '--expires'],
    ['key issue shop --environment sandbox --scopes read --expires 0d', '--expires'],
    ['key issue shop --environment sandbox --scopes read --expires 2027-02-31', '--expires'],
    ['team add shop --as', '--as'],
    ['adopt --account main --environment sandbox --team shop --from 2026-02-31', '--from'],
    ['adopt --account main --environment sandbox --team shop --from 2026-10-01 --match amount=1', 'product'],
    [
      'adopt --account main --environment sandbox --team shop --from 2026-10-01 --match orderNumber',
      'product',
    ],
    ['adopt --account main --environment sandbox --team shop --from 2026-10-01 --match product=(', 'group'],
    [
      'adopt --account main --environment sandbox --team shop --from 2026-10-01 --inquiries-per-second 0',
      '--inquiries-per-second',
    ],
    ['tail gateway.nothing.v1', 'gateway.payments.v1, gateway.payouts.v1'],
    ['tail gateway.payments.v1 --from yesterday', '--from'],
    ['tail gateway.payments.v1 --from 2030-13-01T00:00:00Z', '--from'],
    ['tail gateway.payments.v1 --from end', '--follow'],
    ['webhook secret Shop --environment sandbox', "'Shop'"],
    ['topics drop', "'drop'"],
    ['topics create --replication 0', '--replication'],
    ['topics check --replication 1e1', '--replication'],
    ['topics check --replication 10', '--replication'],
    ['audit --since yesterday', '--since'],
    ['audit --kind money', '--kind'],
    ['audit --team ../x', '--team'],
    ['audit --limit 0', '--limit'],
    ['audit verify --head abc', '--head'],
    ['account pause --account main --environment sandbox', '--reason'],
    ['webhook rotate shop --environment sandbox --overlap soon', '--overlap'],
  ])('%j', async (command, named) => {
    const { error, ...rest } = await run(command);
    expect(rest).toEqual({ exitCode: 2, out: '', opened: 0, closed: 0 });
    expect(error).toContain(named);
    expect(error).toMatch(/^[A-Z<-][^\n]*[^.\n]\.\n$/);
    expect(error).not.toMatch(/\. (?!Did you mean)\S/);
  });
});

it.each(['', 'team', 'topics'])(
  '%j without a command exits with 2 and the commands, and opens nothing',
  async (command) => {
    const { error, ...rest } = await run(command);
    expect(rest).toEqual({ exitCode: 2, out: '', opened: 0, closed: 0 });
    expect(error).toContain('Commands:');
  },
);

it.each<[string, string[]]>([
  ['commands of a shell', ['team', 'add', 'shop; rm -rf /']],
  ['nothing', ['team', 'add', '']],
  ['two lines', ['team', 'add', 'a\nb']],
  ['what a terminal obeys', ['team', 'add', '\u001b[2J\u202e']],
  ['far too much', ['team', 'add', 'a'.repeat(100_000)]],
  ['what objects have of themselves', ['team', 'add', '__proto__']],
  ['options as arguments', ['team', 'show', '--', '--help']],
])('%s as an argument is one sentence of complaint, too, fit for a terminal', async (_, argv) => {
  const { error, ...rest } = await run(argv);
  expect(rest).toEqual({ exitCode: 2, out: '', opened: 0, closed: 0 });
  expect(error).toMatch(/^[^\p{Cc}\p{Cf}]{1,400}\.\n$/u);
});

it.each([
  '--help',
  'help',
  'team --help',
  'key --help',
  ...['add', 'list', 'show', 'allow-origins'].map((name) => `team ${name} --help`),
  ...['issue', 'revoke', 'list'].map((name) => `key ${name} --help`),
  'rebuild --help',
])('%s explains, and opens nothing', async (command) => {
  const { out, ...rest } = await run(command);
  expect(rest).toEqual({ exitCode: 0, error: '', opened: 0, closed: 0 });
  expect(out).toContain('Usage: npm run tollgate --');
  expect(out).toContain('--json');
});

it("an internal error is not reported as the caller's, and releases the data", async () => {
  let closed = 0;
  const open = async () => ({ tools: {} as never, close: async () => void (closed += 1) });
  await expect(runOpening(open, 'team list')).rejects.toThrow(TypeError);
  expect(closed).toBe(1);
});
