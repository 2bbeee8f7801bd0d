/** Columns shared by several lists. */
import { type Html, html } from '@tollgate/service-kit';
import { amount } from './amount.ts';
import { type ListColumn, column } from './table.ts';
import { timeInColumn, timeInDay, zone } from './time.ts';
import { shortToken } from './token.ts';

type Look<Row> = Parameters<typeof column<Row>>[3];

export const amountColumn = <Row extends { amount: number; currency: string }>(): ListColumn<Row> =>
  column('amount', 'Amount', ({ amount: sum, currency }) => amount(sum, currency), {
    width: 'amount',
    isNumber: true,
    use: 'always',
  });

/** The day is shown above the row. */
export const createdColumn = <Row>(
  name: string,
  of: (row: Row) => string,
  look: Look<Row> = {},
): ListColumn<Row> =>
  column('created', name, (row) => timeInDay(of(row)), {
    head: html`${name} ${zone}`,
    width: 'time',
    use: 'always',
    ...look,
  });

export const timeColumn = <Row>(
  id: string,
  name: string,
  of: (row: Row) => string | undefined,
  look: Look<Row> = { use: 'asked' },
): ListColumn<Row> => {
  const head = html`${name} ${zone}`;
  const cell = (row: Row) => {
    const at = of(row);
    return at === undefined ? undefined : timeInColumn(at);
  };
  return column(id, name, cell, { head, width: 'long-time', ...look });
};

/** The team, and its environment if that is production. */
const ownerText = ({ team, environment }: { team?: string; environment: string }): Html | string => {
  if (environment === 'sandbox') return team ?? '';
  return html`<span title="${team}">${team}</span> <small class="production">${environment}</small>`;
};

export const teamColumn = <Row extends { team?: string; environment: string }>(): ListColumn<Row> =>
  column('team', 'Team', ownerText, { width: 'name' });

export const tokenColumn = <Row>(
  id: string,
  name: string,
  of: (row: Row) => string | undefined,
  look: Look<Row> = {},
): ListColumn<Row> => {
  const cell = (row: Row) => {
    const token = of(row) ?? '';
    return html`<code title="${token}">${shortToken(token)}</code>`;
  };
  return column(id, name, cell, { width: 'token', ...look });
};

/** @param of a number, or a text with one */
export const countColumn = <Row>(
  id: string,
  name: string,
  of: (row: Row) => number | string,
  look: Look<Row> = {},
): ListColumn<Row> => column(id, name, (row) => String(of(row)), { width: 'count', isNumber: true, ...look });
