/** Columns shared by several lists. */
import { type Html, html } from '@tollgate/service-kit';
import { amount } from './amount.ts';
import type { ListColumn } from './table.ts';
import { timeInColumn, timeInDay, zone } from './time.ts';
import { shortToken } from './token.ts';

export const amountColumn = <Row extends { amount: number; currency: string }>(): ListColumn<Row> => ({
  id: 'amount',
  name: 'Amount',
  width: 'amount',
  isNumber: true,
  use: 'always',
  cell: ({ amount: sum, currency }) => amount(sum, currency),
});

/** The day is shown above the row. */
export const createdColumn = <Row>(name: string, of: (row: Row) => string): ListColumn<Row> => ({
  id: 'created',
  name,
  head: html`${name} ${zone}`,
  width: 'time',
  use: 'always',
  cell: (row) => timeInDay(of(row)),
});

export const timeColumn = <Row>(id: string, name: string, of: (row: Row) => string): ListColumn<Row> => ({
  id,
  name,
  head: html`${name} ${zone}`,
  width: 'long-time',
  use: 'asked',
  cell: (row) => timeInColumn(of(row)),
});

/** The team, and its environment if that is production. */
const ownerText = ({ team, environment }: { team?: string; environment: string }): Html | string => {
  if (environment === 'sandbox') return team ?? '';
  return html`<span title="${team}">${team}</span> <small class="production">${environment}</small>`;
};

export const teamColumn = <Row extends { team?: string; environment: string }>(): ListColumn<Row> => ({
  id: 'team',
  name: 'Team',
  width: 'name',
  cell: ownerText,
});

export const tokenColumn = <Row>(id: string, name: string, of: (row: Row) => string): ListColumn<Row> => ({
  id,
  name,
  width: 'token',
  cell: (row) => html`<code title="${of(row)}">${shortToken(of(row))}</code>`,
});
