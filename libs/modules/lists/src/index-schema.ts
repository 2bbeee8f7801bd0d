/** The tables of the index. Every list of a team is led through an index that begins with environment and team. */
import { orderKey } from './index-filters.ts';
import { journalTables } from './index-journal.ts';
import { sumTables } from './index-ledger.ts';

const envelopeColumns = `
    token TEXT PRIMARY KEY,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    revision INTEGER NOT NULL,
    view TEXT NOT NULL`;

/** Payments and payouts are listed by the same filters. */
const operationColumns = `
    environment TEXT NOT NULL,
    team TEXT NOT NULL,
    phase TEXT NOT NULL,
    order_number TEXT,
    currency TEXT NOT NULL,
    needs_review INTEGER NOT NULL,
    account TEXT NOT NULL,
    inquiry_need TEXT NOT NULL,
    is_unresolved INTEGER NOT NULL,
    shard INTEGER NOT NULL,
    due_at INTEGER,
    ${envelopeColumns}`;

/**
 * For every combination of filters there is an index in the order of the answer, so that a page costs only its own rows
 * (`index-filters.ts`). Columns after `token` filter index entries without fetching their rows.
 *
 * No partial index compares with a bound value: SQLite would replan those at each execution.
 */
const listIndexes = (table: string) => `
  CREATE INDEX ${table}_by_phase ON ${table}
    (environment, team, phase, created_at, token, needs_review${table === 'payments' ? ', account, currency, decline_reason' : ''});
  CREATE INDEX ${table}_by_currency ON ${table} (environment, team, currency, created_at, token, needs_review);
  CREATE INDEX ${table}_by_phase_and_currency ON ${table}
    (environment, team, phase, currency, created_at, token, needs_review);
  CREATE INDEX ${table}_by_order_number ON ${table}
    (environment, team, ${orderKey('order_number')}, created_at, token, currency, phase, needs_review, order_number)
    WHERE order_number IS NOT NULL;
  CREATE INDEX ${table}_needing_review ON ${table}
    (environment, team, created_at, token, currency, phase) WHERE needs_review = 1;
  CREATE INDEX ${table}_unresolved ON ${table}
    (environment, team, created_at, token, currency, phase, needs_review) WHERE is_unresolved = 1;`;

/** Of what belongs to a payment. */
const partIndexes = (table: string) => `
  CREATE INDEX ${table}_by_age ON ${table} (environment, team, created_at, token);
  CREATE INDEX ${table}_by_phase ON ${table} (environment, team, phase, created_at, token);
  CREATE INDEX ${table}_by_currency ON ${table} (environment, team, currency, created_at, token);
  CREATE INDEX ${table}_by_phase_and_currency ON ${table} (environment, team, phase, currency, created_at, token);
  CREATE INDEX ${table}_by_payment ON ${table} (environment, team, payment_token, created_at, token, phase, currency);`;

const operationIndexes = (table: string) => `
  CREATE INDEX ${table}_by_age ON ${table} (environment, team, created_at, token, needs_review);
  CREATE TABLE ${table}_metadata (
    of_environment TEXT NOT NULL,
    of_team TEXT NOT NULL,
    hash TEXT NOT NULL,
    made_at INTEGER NOT NULL,
    of_token TEXT NOT NULL,
    PRIMARY KEY (of_environment, of_team, hash, made_at, of_token)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX ${table}_due ON ${table} (shard, inquiry_need, environment, account, due_at, updated_at)
    WHERE due_at IS NOT NULL;
  CREATE INDEX ${table}_by_need ON ${table} (inquiry_need);`;

/** In the key of a row, `<payment>~<refund>`. */
export const refundToken = "substr(token, instr(token, '~') + 1)";

const ofLists = `
  ${listIndexes('payments')}
  ${listIndexes('payouts')}
  CREATE INDEX payments_refund_open ON payments
    (environment, team, created_at, token, currency, phase, needs_review) WHERE refund_open = 1;
  -- The token is that of the payment and of the refund.
  CREATE TABLE refunds (
    token TEXT PRIMARY KEY,
    environment TEXT NOT NULL,
    team TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    phase TEXT NOT NULL,
    currency TEXT NOT NULL,
    payment_token TEXT NOT NULL
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX refunds_by_token ON refunds (${refundToken});
  ${partIndexes('refunds')}
  ${partIndexes('disputes')}
  CREATE INDEX disputes_by_id ON disputes (json_extract(view, '$.dispute.id'));
  CREATE TABLE events (
    environment TEXT NOT NULL,
    team TEXT NOT NULL,
    position TEXT NOT NULL,
    stream TEXT NOT NULL,
    revision INTEGER NOT NULL,
    PRIMARY KEY (environment, team, position)
  ) STRICT, WITHOUT ROWID;
  ${journalTables}`;

export const indexSchema = `
  CREATE TABLE quarantined (stream TEXT PRIMARY KEY, revision INTEGER NOT NULL, code TEXT NOT NULL) STRICT;
  CREATE TABLE payments (
    service_token TEXT, refund_open INTEGER NOT NULL, decline_reason TEXT, ${operationColumns}
  ) STRICT;
  ${operationIndexes('payments')}
  CREATE INDEX payments_by_service_token ON payments (environment, account, service_token)
    WHERE service_token IS NOT NULL;
  CREATE TABLE payouts (${operationColumns}
  ) STRICT;
  ${operationIndexes('payouts')}
  CREATE TABLE disputes (
    environment TEXT NOT NULL,
    team TEXT NOT NULL,
    payment_token TEXT NOT NULL,
    phase TEXT NOT NULL,
    currency TEXT NOT NULL, ${envelopeColumns}
  ) STRICT;
  CREATE INDEX disputes_of_payment ON disputes (payment_token, created_at);
  CREATE TABLE unmatched (environment TEXT NOT NULL, team TEXT, ${envelopeColumns}) STRICT;
  CREATE TABLE reviews (
    environment TEXT NOT NULL,
    team TEXT NOT NULL,
    rank INTEGER NOT NULL,
    key TEXT NOT NULL,
    token TEXT NOT NULL,
    since INTEGER NOT NULL,
    kind TEXT NOT NULL,
    PRIMARY KEY (environment, team, rank, key)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX reviews_by_token ON reviews (token);
  ${sumTables}
  CREATE TABLE transfers (environment TEXT NOT NULL, ${envelopeColumns}) STRICT;
  ${ofLists}
`;
