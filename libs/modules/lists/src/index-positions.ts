/** Positions of teams. They are kept in the transaction that takes a view over, as the totals are. */
import {
  noPosition,
  plusPosition,
  type PositionPart,
  type PositionSums,
  type PositionQuery,
} from '@tollgate/views';
import type { IndexFile } from './index-file.ts';
import type { Row, Statements } from './index-rows.ts';

/** What each team has in each account. */
export const positionsIn = (
  file: IndexFile,
  { environment, teams, currency }: PositionQuery,
): PositionPart[] =>
  teams.flatMap((team) =>
    file
      .select(
        'SELECT account, available, hold FROM positions WHERE environment = ? AND team = ? AND currency = ?',
        [environment, team, currency],
      )
      .map((row) => ({ environment, team, currency, account: String(row['account']), ...toSums(row) })),
  );

export function applyToPositions(statements: Statements, changes: readonly PositionPart[]): void {
  const find =
    'SELECT available, hold FROM positions WHERE environment = ? AND team = ? AND currency = ? AND account = ?';
  const write =
    'INSERT OR REPLACE INTO positions (environment, team, currency, account, available, hold) VALUES (?, ?, ?, ?, ?, ?)';
  for (const { environment, team, currency, account, ...change } of changes) {
    const key = [environment, team, currency, account];
    const row = statements(find).get(...key);
    const { available, hold } = plusPosition(row === undefined ? noPosition : toSums(row), change);
    statements(write).run(...key, String(available), String(hold));
  }
}

const toSums = ({ available, hold }: Row): PositionSums => ({
  available: BigInt(String(available)),
  hold: BigInt(String(hold)),
});
