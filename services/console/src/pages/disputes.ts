/** The disputes of all teams; open ones first. */
import type { AnswerOf } from '@tollgate/gateway-api/http';
import { type Html, html } from '@tollgate/service-kit';
import {
  amountColumn,
  createdColumn,
  teamColumn,
  timeColumn,
  tokenColumn,
} from '../components/list-columns.ts';
import { partListPage } from '../components/part-list.ts';
import { chip } from '../components/state.ts';
import { column } from '../components/table.ts';
import { operationLink, shortToken } from '../components/token.ts';
import { texts } from '../texts.ts';

type ListedDispute = AnswerOf<'OperatorDisputeList'>['disputes'][number];

const tones: Readonly<Record<string, string>> = { open: 'note', unknown: 'note', won: 'good', lost: 'bad' };

function stateCell({ status, reportedStatus }: ListedDispute): Html {
  const reported = status === 'unknown' ? html` <small>${reportedStatus}</small>` : undefined;
  return html`<span title="${reportedStatus}"
      >${chip(texts.disputeStates[status] ?? status, tones[status])}</span
    >${reported}`;
}

/** A dispute without a known payment has no page. */
const nameCell = ({ id, paymentToken }: ListedDispute): Html =>
  paymentToken === undefined
    ? html`<code title="${id}">${shortToken(id)}</code>`
    : operationLink(paymentToken, id);

export const disputesPage = partListPage<ListedDispute>({
  name: 'disputes',
  title: 'Disputes',
  none: 'No dispute here.',
  noneHow: "A dispute appears when the Payment Service lists one. Answer it in the provider's console.",
  tabFilter: 'status',
  views: [
    ['Open', 'open'],
    ['Unknown status', 'unknown'],
    ['All', ''],
    ['Won', 'won'],
    ['Lost', 'lost'],
  ],
  texts: ['currency', 'paymentToken'],
  list: {
    name: 'disputes',
    label: 'Disputes',
    keyOf: ({ id }) => id,
    hasDays: true,
    columns: [
      column('id', 'Dispute', nameCell, { use: 'always' }),
      column('state', 'State', stateCell, { width: 'state', use: 'always' }),
      amountColumn(),
      createdColumn('Opened', ({ createdAt }) => createdAt),
      column('reason', 'Reason', ({ reasonCode }) => reasonCode, { isSecond: true }),
      teamColumn(),
      timeColumn('changed', 'Last change', ({ updatedAt }) => updatedAt),
      tokenColumn('of', 'Payment', ({ paymentToken }) => paymentToken),
    ],
  },
});
