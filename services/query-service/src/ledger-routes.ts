/** The journal, statements and balances, of a team and across teams. */
import { providerWallet, walletNameOf } from '@tollgate/core';
import { toPublicJournalEntry } from '@tollgate/gateway-api';
import { addReadRoute, type Call, routes, sendError } from '@tollgate/gateway-api/http';
import type { ListOwner } from '@tollgate/lists';
import { omitUndefined, utcDayOf } from '@tollgate/service-kit';
import type { Reach } from '@tollgate/teams';
import { type JournalRow, SumTooLarge } from '@tollgate/views';
import type { FastifyInstance, FastifyReply } from 'fastify';
import { ledgerAccounts } from '@tollgate/books';
import { textOfList } from './csv-exports.ts';
import { byteOrderMark, decimal, toCsvLine, type Cell } from './csv.ts';
import { allOwnersIn, ofCaller, ofTeams, ownersIn } from './list-query.ts';
import type { ListRoutes } from './list-routes.ts';
import { type ReadDependencies, withOwner } from './reading.ts';
import {
  allAmounts,
  statementsOf,
  toPublicAmounts,
  toPublicStatement,
  type Statement,
} from './statements.ts';

export function registerLedgerRoutes(app: FastifyInstance, deps: ReadDependencies, lists: ListRoutes): void {
  addJournal(deps, lists);
  addStatements(app, deps, lists);
  const { index, directory } = deps;

  addReadRoute(app, deps, routes.listBalancesOfAll, async ({ query, reach, reply }) => {
    const { team, environment, wallet } = query;
    const balances = balancesWithin({ index, directory }, reach, { team, environment }).filter(
      (each) => wallet === undefined || each.wallet === wallet,
    );
    return sendSums(reply, () => ({
      balances: balances.map(({ amounts, ...holder }) => ({
        ...holder,
        amounts: toPublicAmounts(allAmounts(amounts)),
      })),
    }));
  });
}

function addJournal(deps: ReadDependencies, { addList, addExport }: ListRoutes): void {
  const { index, share } = deps;
  const entries = { name: 'entries', list: index.listJournal } as const;
  const toOwned = withOwner(toPublicJournalEntry, (entry) => entry);

  addList(routes.listJournal, { ...entries, toShown: toPublicJournalEntry }, ofCaller);
  addList(routes.listJournalOfAll, { ...entries, toShown: toOwned }, (call) =>
    ofTeams(deps, call, allOwnersIn),
  );
  const linesOf = (query: ReturnType<typeof ofCaller>, ownerColumns: readonly ('environment' | 'team')[]) =>
    textOfList(
      share,
      [...ownerColumns, ...journalColumns],
      (page) => index.listJournal({ ...query, ...page }),
      (entry) =>
        linesOfEntry(
          entry,
          ownerColumns.map((name) => entry[name]),
        ),
    );
  addExport(routes.exportJournal, 'journal', (call) => linesOf(ofCaller(call), []));
  addExport(routes.exportJournalOfAll, 'journal', (call) =>
    linesOf(ofTeams(deps, call, allOwnersIn), ['environment', 'team']),
  );
}

const journalColumns = [
  ...['time', 'entry', 'kind', 'eventType', 'token', 'refundToken', 'disputeToken', 'wallet', 'account'],
  ...['ledgerAccount', 'currency', 'amountMinor', 'amount'],
];

/** One for each posting. */
function linesOfEntry(entry: JournalRow, owner: readonly Cell[]): string {
  const { id, time, kind, eventType, token, refundToken, disputeToken, wallet, account, currency } =
    toPublicJournalEntry(entry);
  const cells = [time, id, kind, eventType, token, refundToken, disputeToken, wallet, account];
  return entry.postings
    .map(([ledgerAccount, amount]) =>
      toCsvLine([...owner, ...cells, ledgerAccount, ...moneyCells(amount, currency)]),
    )
    .join('');
}

const moneyCells = (amount: bigint, currency: string): Cell[] => [
  currency,
  amount,
  decimal(amount, currency),
];

function addStatements(app: FastifyInstance, deps: ReadDependencies, { addExport }: ListRoutes): void {
  const { index, clock } = deps;
  /** Undefined for a month that has not begun, which is refused: it would look as if it had ended already. */
  function statementsFor(
    reply: FastifyReply,
    { month, currency, wallet }: MonthAsked,
    owners: readonly ListOwner[],
  ): Statement[] | undefined {
    if (month > utcDayOf(clock.now()).slice(0, 'YYYY-MM'.length))
      return void sendError(reply, 'invalid_param', { message: 'month has not begun.', parameter: 'month' });
    return statementsOf(index.monthSums({ owners, month, ...omitUndefined({ currency, wallet }) }), month);
  }
  const ofOwn = ({ caller: { team, environment }, query, reply }: StatementCall) =>
    statementsFor(reply, query, [{ team, environment }]);
  const ofAll = ({ reach, query, reply }: StatementCall) =>
    statementsFor(
      reply,
      query,
      allOwnersIn(deps, reach, { team: query.team, environment: query.environment }),
    );

  for (const [list, file, read, toShown] of [
    [routes.listStatements, routes.exportStatements, ofOwn, toPublicStatement],
    [routes.listStatementsOfAll, routes.exportStatementsOfAll, ofAll, toOwnedStatement],
  ] as const) {
    addReadRoute(app, deps, list, async (call) => {
      const { month } = call.query;
      const statements = read(call);
      if (statements === undefined) return call.reply;
      return sendSums(call.reply, () => ({ month, statements: statements.map(toShown) }));
    });
    addExport(file, 'statements', (call) => {
      const statements = read(call);
      return statements && linesOfStatements(call.query.month, statements);
    });
  }
}

interface MonthAsked {
  month: string;
  currency?: string | undefined;
  team?: string | undefined;
  environment?: ListOwner['environment'] | undefined;
  wallet?: string | undefined;
}

type StatementCall = Pick<Call, 'caller' | 'reach' | 'reply'> & { query: MonthAsked };

const toOwnedStatement = withOwner(toPublicStatement, ({ environment }) => ({ environment }));

export function sendSums(reply: FastifyReply, answer: () => object): FastifyReply {
  try {
    return reply.send({ success: true, ...answer() });
  } catch (error) {
    if (error instanceof SumTooLarge) return sendError(reply, 'sum_too_large');
    throw error;
  }
}

const statementColumns = [
  ...['month', 'environment', 'wallet', 'account', 'ledgerAccount', 'line'],
  ...['currency', 'amountMinor', 'amount'],
];

/** The opening, the entries by kind and the closing of each ledger account that anything was moved in. */
async function* linesOfStatements(
  month: string,
  statements: readonly Statement[],
): AsyncGenerator<string, void, void> {
  yield byteOrderMark + toCsvLine(statementColumns);
  for (const { environment, wallet, account, currency, opening, entries, closing } of statements) {
    const holder = [month, environment, wallet, account];
    for (const ledgerAccount of ledgerAccounts) {
      const lines = [
        ['opening', opening] as const,
        ...entries.map(({ kind, amounts }) => [kind, amounts] as const),
        ['closing', closing] as const,
      ];
      if (lines.every(([, amounts]) => amounts[ledgerAccount] === 0n)) continue;
      yield lines
        .map(([line, { [ledgerAccount]: amount }]) =>
          toCsvLine([...holder, ledgerAccount, line, ...moneyCells(amount, currency)]),
        )
        .join('');
    }
  }
}

/** Of the wallets of the teams within reach. */
function balancesWithin(
  { index, directory }: Pick<ReadDependencies, 'index' | 'directory'>,
  reach: Reach,
  { team, environment }: Pick<MonthAsked, 'team' | 'environment'>,
) {
  const isOfAll = reach.isEverywhere && team === undefined;
  const nameOf = (each: { environment: string; wallet: string }) => `${each.environment} ${each.wallet}`;
  const names = ownersIn({ directory }, reach, { team, environment }).flatMap((owner) =>
    walletsOf(directory, owner.team).map((wallet) => nameOf({ environment: owner.environment, wallet })),
  );
  const within = new Set(names);
  return index
    .listBalances()
    .filter((each) => environment === undefined || each.environment === environment)
    .filter((each) => isOfAll || within.has(nameOf(each)));
}

/** The team's current wallet, and its own. A wallet limited only by the provider includes the money of other teams. */
function walletsOf(directory: ReadDependencies['directory'], team: string): string[] {
  const wallet = directory.find(team)?.money.wallet ?? { kind: 'own' };
  const names = [walletNameOf({ team, wallet: { kind: 'own' } }), walletNameOf({ team, wallet })];
  return names.filter((name) => name !== providerWallet);
}
