/** Formats records of the topics for the command line. */
import { styleText } from 'node:util';
import { providerCallbacksTopic } from '@tollgate/core';
import { decodeGatewayRecord, type JournalEntryOnTopic, sequenceHeader } from '@tollgate/gateway-api';
import type { BusRecord } from '@tollgate/message-bus';
import { formatAmount } from '@tollgate/core/money';
import { printable } from '@tollgate/service-kit/command-line';

/** The details of a line, in addition to time, type, key and number. */
interface Shown {
  state: string;
  amount?: string;
}

type Colour = 'green' | 'red' | 'yellow' | 'dim';
const colours: Readonly<Record<string, Colour>> = {
  approved: 'green',
  declined: 'red',
  expired: 'red',
  unreadable: 'red',
  init: 'yellow',
  pending: 'yellow',
};

/** Longer keys are shortened to their beginning and end. */
const keyLengthMax = 20;
const shorten = (key: string) => (key.length <= keyLengthMax ? key : `${key.slice(0, 12)}…${key.slice(-7)}`);

/** Time, type, key, number in the history, status and phase, amount. */
export function toRecordLine(record: BusRecord, hasColours: boolean): string {
  const paint = (colour: Colour | undefined, text: string) =>
    hasColours && colour !== undefined ? styleText(colour, text, { validateStream: false }) : text;
  const { headers, key } = record;
  const { state, amount = '' } = shownOf(record);
  const sequence = headers[sequenceHeader];
  const columns = [
    paint('dim', printable(headers['ce_time'] ?? timeOf(record))),
    printable(headers['ce_type'] ?? typeOf(record)).padEnd(44),
    printable(shorten(key)).padEnd(keyLengthMax),
    paint(
      'dim',
      (sequence === undefined ? '' : `#${printable(sequence.replace(/^0+(?=\d)/, ''))}`).padEnd(4),
    ),
    paint(colours[/^\w*/.exec(state)?.[0] ?? ''], printable(state).padEnd(20)),
    amount,
  ];
  return columns.join('  ').trimEnd();
}

/** The full record: its value as JSON if possible, otherwise in base64. */
export function toRecordJson(record: BusRecord): Record<string, unknown> {
  const { topic, partition, offset, key, headers, value } = record;
  const place = { topic, partition, offset, timestamp: timeOf(record), key, headers };
  try {
    return {
      ...place,
      value: JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(value)) as unknown,
    };
  } catch {
    return { ...place, valueBase64: Buffer.from(value).toString('base64') };
  }
}

function shownOf(record: BusRecord): Shown {
  if (record.topic === providerCallbacksTopic) return { state: record.headers['environment'] ?? '' };
  const decoded = decodeGatewayRecord(record);
  switch (decoded.kind) {
    case 'payment':
      return shownOfSubject(decoded.payment);
    case 'payout':
      return shownOfSubject(decoded.payout);
    case 'dispute':
      return shownOfSubject(decoded.dispute);
    case 'journal':
      return shownOfEntry(decoded.entry);
    case 'unknown-type':
      return { state: 'of an unknown type' };
    case 'unreadable':
      return { state: `unreadable: ${decoded.reason}` };
  }
}

const shownOfSubject = (subject: { status: string; phase?: string; amount: number; currency: string }) => ({
  state: subject.phase === undefined ? subject.status : `${subject.status}/${subject.phase}`,
  amount: formatAmount(subject.amount, subject.currency),
});

/** The change of each ledger account. */
const shownOfEntry = ({ kind, currency, postings }: JournalEntryOnTopic): Shown => ({
  state: kind,
  amount: postings
    .map(({ ledgerAccount, amount }) => `${ledgerAccount} ${formatAmount(amount, currency)}`)
    .join(', '),
});

const typeOf = ({ topic }: BusRecord): string => (topic === providerCallbacksTopic ? 'callback' : '?');

const timeOf = ({ timestamp }: BusRecord): string => new Date(timestamp).toISOString();
