/** The accounts file (`PROVIDER_ACCOUNTS_FILE`): the accounts at the Payment Service, without their private keys. */
import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { environmentSchema } from '@tollgate/core';
import { currencySchema, orMissing } from '@tollgate/core/money';
import { type ProviderName, defaultProvider, providerNames } from '@tollgate/provider';
import { teamNameSchema } from '@tollgate/teams';
import { Secret, StartupError, decodeUtf8, errorCode, omitUndefined } from '@tollgate/service-kit';
import { z } from 'zod';
import { type AccountConfig, inquiryLimits } from '@tollgate/accounts';

export interface ConfiguredAccount extends AccountConfig {
  provider: ProviderName;
  /** Address of the service, `https` only. */
  baseUrl: string;
  privateKey: Secret;
  /** PEM certificate that is trusted next to the usual ones. */
  ca?: string;
}

/** Maximum accounts in the file: each creation draws among all of them. */
const accountsMax = 100;
/** Maximum faults in one message. */
const faultsMax = 10;

const nameRule = 'must be 1 to 63 lower-case letters, digits and hyphens, beginning with a letter';
const addressRule =
  'must be an address that begins with https://, without user name, password, query and fragment; the service takes no plain HTTP';

const wholeNumber = (min: number, max: number) => {
  const rule = `must be a whole number from ${min} to ${max}`;
  return z.int(rule).min(min, rule).max(max, rule);
};
const listOf = (entry: z.ZodType<string>, rule: string) => z.array(entry, rule).min(1, rule);
const pathRule = 'must be the path of a file';
const path = z.string(orMissing(pathRule)).min(1, pathRule);

/** An account in the file. */
export const accountEntrySchema = z.strictObject(
  {
    name: z
      .string(orMissing(nameRule))
      .regex(/^[a-z][a-z0-9-]{0,62}$/, nameRule)
      .describe('Name of the account in events. Never reuse it for another merchant.'),
    environment: z
      .enum(environmentSchema.options, orMissing('must be sandbox or production'))
      .describe('Environment whose API keys use this account.'),
    provider: z
      .enum(providerNames, `must be one of ${providerNames.join(', ')}`)
      .default(defaultProvider)
      .describe('Provider of the account.'),
    baseUrl: z
      .string(orMissing(addressRule))
      .refine(isServiceAddress, addressRule)
      .describe('Base URL of the provider.'),
    privateKeyFile: path.describe('File that contains only the private key, relative to this file.'),
    caFile: path.optional().describe('PEM file of an additional trusted certificate.'),
    currencies: listOf(currencySchema, 'must be a list of at least one currency, or be left out for all')
      .optional()
      .describe('Currencies of new payments. All if unset.'),
    teams: listOf(teamNameSchema, 'must be a list of the name of at least one team, or be left out for all')
      .optional()
      .describe('Teams whose new payments it accepts. All if unset.'),
    weight: wholeNumber(1, 1_000_000)
      .default(1)
      .describe('Relative share of new payments among accounts with the same priority.'),
    priority: wholeNumber(0, 1_000)
      .default(0)
      .describe('Order of use. Accounts with a higher number are used if those with a lower one cannot.'),
    concurrentCallsMax: wholeNumber(1, 10_000)
      .default(64)
      .describe('Maximum concurrent calls that move money.'),
    callsPerSecondMax: wholeNumber(1, 1_000_000)
      .default(1_000)
      .describe('Maximum calls per second that move money.'),
    failuresInARowMax: wholeNumber(1, 1_000_000)
      .default(10)
      .describe('Consecutive failed calls that open the circuit breaker.'),
    concurrentInquiriesMax: wholeNumber(1, 10_000)
      .default(inquiryLimits.concurrentInquiriesMax)
      .describe('Maximum concurrent status inquiries.'),
    inquiriesPerSecondMax: wholeNumber(1, 1_000_000)
      .default(inquiryLimits.inquiriesPerSecondMax)
      .describe(
        'Maximum status inquiries per second. It also limits the rate at which callbacks are applied.',
      ),
  },
  orMissing('must be an object'),
);
type Entry = z.infer<typeof accountEntrySchema>;

const listRule = `must be a list of 1 to ${accountsMax} accounts`;
const fileSchema = z.strictObject(
  { accounts: z.array(accountEntrySchema, orMissing(listRule)).min(1, listRule).max(accountsMax, listRule) },
  'must be an object {"accounts": […]}',
);

/**
 * Reads the accounts file, and its key files and certificates; relative paths start at its folder.
 *
 * @throws StartupError with each entry and field at fault, without values: a key may be in the wrong place
 */
export const readAccountsFile = (file: string): readonly ConfiguredAccount[] =>
  parseAccounts(readAccountsText(file), { file, readText: (each) => readFileSync(each, 'utf8') });

function readAccountsText(file: string): string {
  let bytes: Buffer;
  try {
    bytes = readFileSync(file);
  } catch (error) {
    throw new StartupError(
      'config_invalid',
      `The accounts file ${file} cannot be read (${errorCode(error) ?? 'unknown error'}). Set PROVIDER_ACCOUNTS_FILE to a file that this user may read, and start again.`,
      { cause: error },
    );
  }
  const text = decodeUtf8(bytes);
  if (text === undefined) throw faulty(file, ['must be UTF-8']);
  return text;
}

interface Source {
  file: string;
  /** Reads a file that the accounts name; throws if it cannot be read. */
  readText(path: string): string;
}

/** The same for a text that was read already. */
export function parseAccounts(text: string, source: Source): readonly ConfiguredAccount[] {
  const result = fileSchema.safeParse(parseJson(text, source.file));
  if (!result.success) throw faulty(source.file, result.error.issues.flatMap(describe));
  const { accounts } = result.data;
  const faults = repeatsIn(accounts, ({ environment, name }) => `${environment}/${name}`).map(
    ({ earlier, index }) =>
      `accounts[${index}]: name is that of accounts[${accounts.indexOf(earlier)}] in the same environment; give each account its own`,
  );
  const configured = accounts.flatMap((entry, index) => {
    const note = (fault: string) => faults.push(`accounts[${index}]: ${fault}`);
    return toAccount(entry, source, note) ?? [];
  });
  // One merchant under two names would have its money counted twice.
  for (const { earlier, entry } of repeatsIn(configured, merchantOf))
    faults.push(
      `"${earlier.name}" and "${entry.name}" in ${entry.environment} have the same baseUrl and key; keep one of them`,
    );
  if (faults.length > 0) throw faulty(source.file, faults);
  return configured;
}

function parseJson(text: string, file: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    // The parser's own message repeats a part of the file.
    const place = /line \d+ column \d+/.exec(error instanceof Error ? error.message : '')?.[0];
    throw faulty(file, [`it is not JSON${place === undefined ? '' : ` (${place})`}`]);
  }
}

function faulty(file: string, faults: readonly string[]): StartupError {
  const more = faults.length - faultsMax;
  const named = [...faults.slice(0, faultsMax), ...(more > 0 ? [`and ${more} more`] : [])];
  return new StartupError(
    'config_invalid',
    `Correct the accounts file ${file} and start again: ${named.join('; ')}.`,
  );
}

/** One sentence for each fault, beginning with its place. */
function describe(issue: z.core.$ZodIssue): string[] {
  const place = z.core.toDotPath(issue.path);
  if (issue.code !== 'unrecognized_keys') return [`${place} ${issue.message}`.trim()];
  const known = place === '' ? ['accounts'] : Object.keys(accountEntrySchema.shape);
  return issue.keys.map((key) =>
    `${place} ${JSON.stringify(key.slice(0, 40))} is not a field. Remove it or correct its name (fields: ${known.join(', ')}); a key goes into privateKeyFile`.trim(),
  );
}

/** The entries that have the key of an earlier one. */
const repeatsIn = <Each>(entries: readonly Each[], keyOf: (entry: Each) => string) =>
  entries.flatMap((entry, index) => {
    const earlier = entries.slice(0, index).find((each) => keyOf(each) === keyOf(entry));
    return earlier === undefined ? [] : [{ earlier, entry, index }];
  });

const merchantOf = ({ environment, baseUrl, privateKey }: ConfiguredAccount): string =>
  JSON.stringify([environment, new URL(baseUrl).href.replace(/\/+$/, ''), privateKey.reveal()]);

/** Collects the faults of an entry. */
type Note = (fault: string) => void;

/** Undefined if the key is not available; `note` receives this and all other faults. */
function toAccount(entry: Entry, source: Source, note: Note): ConfiguredAccount | undefined {
  const { privateKeyFile, caFile, currencies, teams, ...rest } = entry;
  const privateKey = keyOfFile(privateKeyFile, source, note);
  const ca = caFile === undefined ? undefined : certificateOf(caFile, source, note);
  if (privateKey === undefined) return undefined;
  return { ...rest, ...omitUndefined({ currencies, teams, ca }), privateKey };
}

/** The names of a file's accounts, without their keys. @throws StartupError if it is unreadable */
export function accountNamesOf(file: string): readonly AccountName[] {
  const names = accountNamesSchema.safeParse(parseJson(readAccountsText(file), file)).data?.accounts;
  if (names === undefined) throw faulty(file, ['accounts must have environment and name each']);
  return names;
}

export type AccountName = z.infer<typeof accountNameSchema>;

const accountNameSchema = z.object({
  environment: environmentSchema,
  name: z.string(),
});
const accountNamesSchema = z.object({ accounts: z.array(accountNameSchema) });

/** A key is a single word (the client refuses any other); editors end a file with a line break. */
function keyOfFile(file: string, source: Source, note: Note): Secret | undefined {
  const key = readNamed('privateKeyFile', file, source, note)?.trim();
  if (key === undefined) return undefined;
  if (/^[\x21-\x7e]+$/.test(key)) return new Secret(key);
  note(
    'privateKeyFile names a file that must hold one private key and nothing else, in printable ASCII without spaces',
  );
  return undefined;
}

function certificateOf(file: string, source: Source, note: Note): string | undefined {
  const text = readNamed('caFile', file, source, note);
  if (text === undefined) return undefined;
  try {
    new X509Certificate(text);
    return text;
  } catch {
    note('caFile names a file that must hold a certificate in PEM form');
    return undefined;
  }
}

function readNamed(field: string, file: string, source: Source, note: Note): string | undefined {
  const folder = dirname(resolve(source.file));
  try {
    return source.readText(resolve(folder, file));
  } catch (error) {
    const reason = errorCode(error) ?? 'unknown error';
    note(`${field} names a file that cannot be read (${reason}); relative paths begin at ${folder}`);
    return undefined;
  }
}

/** True if the client accepts it as an address. */
function isServiceAddress(text: string): boolean {
  const url = URL.parse(text);
  return (
    url?.protocol === 'https:' &&
    [url.username, url.password, url.search, url.hash].every((part) => part === '')
  );
}
