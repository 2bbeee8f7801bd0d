/** The operator's functions for merchants: register, record approvals, issue and revoke keys. */
import { StartupError, errorCode, makeFolder, systemClock, systemIds, type Ids } from '@tollgate/service-kit';
import type { CommandRefusal } from '@tollgate/service-kit/command-line';
import { databaseFileOf, environments, type Environment } from '../config.ts';
import { issueKey, keyIdOf, type IssuedKey } from '../keys.ts';
import { openBesideService, type Database } from '../storage/database.ts';
import {
  approvals,
  createMerchantsTable,
  type Approval,
  type KeyRecord,
  type Merchant,
  type MerchantsTable,
} from '../storage/merchants-table.ts';

/** A refusal is one sentence with the argument's name. */
export type Result<Value> = CommandRefusal | ({ kind?: never } & Value);

/** A merchant as `list` shows it. */
export interface MerchantOverview {
  name: string;
  uniqueOrderNumber: boolean;
  approvals: Approval[];
  keys: (KeyRecord & { environment: Environment })[];
}

export interface OperatorDeps {
  databases: Readonly<Record<Environment, Pick<Database, 'connection' | 'write'>>>;
  ids: Pick<Ids, 'hex'>;
  now: () => number;
}

/** The operations on a data folder; services may be running on it. */
export function openBesideServices(dataDir: string) {
  try {
    makeFolder(dataDir);
  } catch (cause) {
    throw new StartupError(
      'data_dir_unusable',
      `TOLLGATE_DATA_DIR is ${dataDir}, a folder that cannot be made (${errorCode(cause) ?? 'unknown'}).`,
      { cause },
    );
  }
  const sandbox = openBesideService(databaseFileOf(dataDir, 'sandbox'));
  const production = openBesideService(databaseFileOf(dataDir, 'production'));
  return {
    tools: createOperatorOperations({
      databases: { sandbox, production },
      ids: systemIds,
      now: systemClock.now,
    }),
    close: () => {
      sandbox.close();
      production.close();
    },
  };
}

/**
 * A register contains the merchants and keys of one environment. Approvals are stored in the register of production.
 */
interface Register {
  environment: Environment;
  merchants: MerchantsTable;
  write: Database['write'];
}

const namePattern = /^[\p{L}\p{N}](?:[\p{L}\p{N} ._-]{0,62}[\p{L}\p{N}._-])?$/u;

export type OperatorOperations = ReturnType<typeof createOperatorOperations>;

/** Each promise resolves when the change is durable; a running service applies it from its next request. */
function createOperatorOperations({ databases, ids, now }: OperatorDeps) {
  const open = (environment: Environment): Register => ({
    environment,
    merchants: createMerchantsTable(databases[environment].connection),
    write: databases[environment].write,
  });
  const registers = { sandbox: open('sandbox'), production: open('production') };
  const { sandbox, production } = registers;
  const newKey = ({ merchants, environment }: Register, merchant: Merchant): IssuedKey =>
    issueKey({ merchants, ids, now }, merchant, environment);

  return {
    /** Registers a merchant, with a sandbox key. */
    register: async (name: string): Promise<Result<IssuedKey>> => {
      if (!namePattern.test(name)) return badName();
      return sandbox.write(() => {
        if (sandbox.merchants.findByName(name) !== undefined) return alreadyRegistered(name);
        return newKey(sandbox, sandbox.merchants.insert(name));
      });
    },
    approve: async (name: string, kinds: readonly Approval[]): Promise<Result<{ missing: Approval[] }>> => {
      const known = sandbox.merchants.findByName(name);
      if (known === undefined) return unknownMerchant(name);
      return production.write(() => {
        const { id } = enrol(production.merchants, known);
        for (const kind of kinds) production.merchants.approve({ merchantId: id, kind, approvedAt: now() });
        return { missing: missingApprovals(production.merchants, id) };
      });
    },
    /** Issues another key; for production only if every approval is recorded. */
    issueKey: async (name: string, environment: Environment): Promise<Result<IssuedKey>> => {
      const known = sandbox.merchants.findByName(name);
      if (known === undefined) return unknownMerchant(name);
      const register = registers[environment];
      return register.write(() => {
        const merchant = register.merchants.findByName(name);
        const missing =
          environment === 'production' ? missingApprovals(register.merchants, merchant?.id) : [];
        if (merchant === undefined || missing.length > 0) return notApproved(name, missing);
        return newKey(register, merchant);
      });
    },
    /** Accepts a key's identifier, the beginning of the identifier or key as `list` shows it, or the whole key. */
    revokeKey: (which: string): Promise<Result<{ keyId: string }>> =>
      revokeKey(Object.values(registers), which, now),
    setUniqueOrderNumber: async (name: string, isUnique: boolean): Promise<Result<object>> => {
      if (sandbox.merchants.findByName(name) === undefined) return unknownMerchant(name);
      for (const { merchants, write } of Object.values(registers)) {
        await write(() => {
          const merchant = merchants.findByName(name);
          if (merchant !== undefined) merchants.setUniqueOrderNumber(merchant.id, isUnique);
        });
      }
      return {};
    },
    list: (): MerchantOverview[] =>
      sandbox.merchants.list().map((merchant) => toOverview(registers, merchant)),
  };
}

/** The production merchant. A new one copies the settings of the sandbox. */
function enrol(merchants: MerchantsTable, known: Merchant): Merchant {
  const enrolled = merchants.findByName(known.name);
  if (enrolled !== undefined) return enrolled;
  const merchant = merchants.insert(known.name);
  merchants.setUniqueOrderNumber(merchant.id, known.uniqueOrderNumber);
  return merchant;
}

function missingApprovals(merchants: MerchantsTable, merchantId: number | undefined): Approval[] {
  const granted = merchantId === undefined ? [] : merchants.approvalsOf(merchantId);
  return approvals.filter((kind) => !granted.includes(kind));
}

async function revokeKey(
  registers: readonly Register[],
  which: string,
  now: () => number,
): Promise<Result<{ keyId: string }>> {
  const found = registers.flatMap(({ merchants, write }) =>
    keysNamed(merchants, which).map((key) => ({ key, merchants, write })),
  );
  const [first, second] = found;
  if (first === undefined) return unknownKey();
  if (second !== undefined) return ambiguousKey(found.length);
  const { key, merchants, write } = first;
  if (key.revokedAt !== undefined) return revokedBefore(key);
  await write(() => merchants.revokeKey(key.keyId, now()));
  return { keyId: key.keyId };
}

const beginningPattern = /^(key_[0-9a-f]*|sk_(sandbox|production)_[A-Za-z0-9]*)$/;

function keysNamed(merchants: MerchantsTable, which: string): KeyRecord[] {
  if (!beginningPattern.test(which)) return [];
  const found = merchants.keysBeginningWith(which);
  if (found.length > 0 || !which.startsWith('sk_')) return found;
  // Longer than the stored part: a whole key, for example one that has leaked.
  return merchants.keysBeginningWith(keyIdOf(which));
}

function toOverview(
  registers: Readonly<Record<Environment, Register>>,
  { name, uniqueOrderNumber }: Merchant,
): MerchantOverview {
  const enrolled = registers.production.merchants.findByName(name);
  const keys = environments.flatMap((environment) => {
    const { merchants } = registers[environment];
    const merchant = merchants.findByName(name);
    return merchant === undefined
      ? []
      : merchants.keysOf(merchant.id).map((key) => ({ ...key, environment }));
  });
  const granted = enrolled === undefined ? [] : registers.production.merchants.approvalsOf(enrolled.id);
  return { name, uniqueOrderNumber, approvals: granted, keys };
}

const badArgument = (message: string): CommandRefusal => ({ kind: 'usage', message });
const notNow = (message: string): CommandRefusal => ({ kind: 'refused', message });

const badName = () =>
  badArgument('<name> must be 1 to 64 letters, digits, spaces, dots, hyphens and underscores.');
const unknownMerchant = (name: string) =>
  badArgument(`<name> is ${JSON.stringify(name)}, and no such merchant is registered: list shows all.`);
const alreadyRegistered = (name: string) =>
  notNow(`<name> is ${JSON.stringify(name)}, which is registered already: issue-key gives it another key.`);
const notApproved = (name: string, missing: readonly Approval[]) =>
  notNow(
    `<name> is ${JSON.stringify(name)}, which may have no production key before it is approved; still missing: ${missing.join(', ')}.`,
  );
// Arguments are not echoed here: they may contain a key.
const unknownKey = () =>
  badArgument('<key> fits no key: give an identifier (key_…) or the beginning of a key as list shows them.');
const ambiguousKey = (count: number) =>
  badArgument(`<key> fits ${count} keys: give more of it, or the identifier that list shows.`);
const revokedBefore = ({ keyId }: KeyRecord) => notNow(`<key> is ${keyId}, which was revoked already.`);
