/** The output of `adopt`: the terminal's table and the file of payments. */
import { closeSync, openSync, writeSync } from 'node:fs';
import type { AdoptedRow, AdoptionOrder, AdoptionOutcome, AdoptionTally } from '@tollgate/adoption';
import { formatAmount } from '@tollgate/core/money';
import { TollgateError, errorCode, omitUndefined } from '@tollgate/service-kit';
import { type CommandResult, type Output, done, printable, refuse } from '@tollgate/service-kit/command-line';
import { number } from './tools.ts';

type Print = (text: string) => void;

const labels: Record<AdoptionOutcome, string> = {
  adopted: 'adopted',
  adopted_before: 'adopted before',
  made_by_gateway: 'made by this gateway',
  made_by_another_gateway: 'made by another gateway',
  not_matching: 'not matching',
  adopted_by_another_team: 'adopted by another team',
  payment_not_readable: 'not readable',
  payment_not_found: 'no longer found',
};

/** Outcomes that match but need a person. */
const unadopted: readonly AdoptionOutcome[] = [
  'adopted_by_another_team',
  'payment_not_readable',
  'payment_not_found',
];

/** Maximum number of payments named on the terminal. */
const namedMax = 20;

/**
 * Names the payments that cannot be adopted, and writes all payments to the file if one is given.
 *
 * @throws TollgateError if the file cannot be written
 */
export function openNotes(file: string | undefined, print: Print) {
  const descriptor = file === undefined ? undefined : openForWriting(file);
  let named = 0;
  return {
    add(row: AdoptedRow): void {
      if (descriptor !== undefined) writeSync(descriptor, `${JSON.stringify(toLine(row))}\n`);
      if (!unadopted.includes(row.outcome)) return;
      named += 1;
      if (named <= namedMax) print(`  ${Object.values(toLine(row)).map(shown).join('  ')}\n`);
    },
    end(): void {
      if (named > namedMax) print(`  and ${number(named - namedMax)} more; --tokens lists all\n`);
    },
    [Symbol.dispose](): void {
      if (descriptor !== undefined) closeSync(descriptor);
    },
  };
}

function openForWriting(file: string): number {
  try {
    return openSync(file, 'w', 0o600);
  } catch (error) {
    const reason = errorCode(error) ?? 'unknown error';
    throw new TollgateError(
      'tokens_file_unwritable',
      `--tokens names a file that cannot be written (${reason}); name another one.`,
    );
  }
}

const toLine = ({ outcome, found: { observed }, token, recurringToken, team, parameter }: AdoptedRow) => {
  const { serviceToken, orderNumber } = observed;
  return { serviceToken, outcome, ...omitUndefined({ orderNumber, token, recurringToken, team, parameter }) };
};

const shown = (text: string) => printable(text).slice(0, 100);

export function progressOf({ outcomes }: AdoptionTally): string {
  const { adopted, adopted_before: before, ...others } = outcomes;
  const leftOut = Object.values(others).reduce((sum, count) => sum + count, 0);
  return `adopted ${number(adopted)}, before ${number(before)}, left out ${number(leftOut)}`;
}

/** Refused if matching payments were not adopted. The table is then printed here, for a person or a script. */
export function toResult(
  order: AdoptionOrder,
  tally: AdoptionTally,
  { isJson, print }: Output,
): CommandResult {
  const { account, environment, team, from, to, isDryRun } = order;
  const json = { account, environment, team, from, to, isDryRun, ...tally };
  const text = tableOf(order, tally);
  const leftOver = unadopted.reduce((sum, outcome) => sum + tally.outcomes[outcome], 0);
  if (leftOver === 0) return done(text, json);
  print(`${isJson ? JSON.stringify(json) : text}\n`);
  return refuse(`Payments that match were not adopted: ${number(leftOver)}.`);
}

function tableOf(order: AdoptionOrder, { outcomes, recurringTokens, sums }: AdoptionTally): string {
  const { account, environment, team, from, to, isDryRun } = order;
  const line = (label: string, count: number) => `  ${label.padEnd(24)}${number(count).padStart(12)}`;
  return [
    `${isDryRun ? 'Dry run, nothing was changed' : 'Adopted'}: ${account} (${environment}) to ${team}, ${from} to ${to}`,
    ...Object.entries(labels).map(([outcome, label]) => line(label, outcomes[outcome as AdoptionOutcome])),
    line('recurring tokens', recurringTokens),
    ...sums.map(({ currency, approved, refunded }) => {
      const [all, back] = [approved, refunded].map((sum) => formatAmount(BigInt(sum), currency));
      return `  approved ${all}, of that refunded ${back}`;
    }),
  ].join('\n');
}
