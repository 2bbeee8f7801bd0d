/** SQLite's result codes that we distinguish: https://sqlite.org/rescode.html */
export const sqliteBusy = 5;
export const sqliteReadOnly = 8;
export const sqliteIoError = 10;
export const sqliteCorrupt = 11;
export const sqliteFull = 13;
export const sqliteCannotOpen = 14;
export const sqliteNotADatabase = 26;

/** The extended result code of an error of `node:sqlite`, or undefined. */
export function sqliteCodeOf(error: unknown): number | undefined {
  if (typeof error !== 'object' || error === null || !('errcode' in error)) return undefined;
  return typeof error.errcode === 'number' ? error.errcode : undefined;
}

/** The primary code is the low byte of the extended one. */
export const primaryCode = (sqliteCode: number | undefined) =>
  sqliteCode === undefined ? undefined : sqliteCode & 0xff;

/**
 * The file cannot be used; the message is one sentence with what to do. Becomes a `StartupError` on the calling thread: the
 * writer thread does not load the libraries of `@tollgate/service-kit`.
 */
export class StartRefused extends Error {
  readonly code: string;

  constructor(code: string, message: string) {
    super(message);
    this.code = code;
  }
}
