/**
 * The file cannot be used; the message is one sentence that says what to do. Becomes a `StartupError` on the calling
 * thread: the writer thread does not load the libraries that `@tollgate/service-kit` brings.
 */
export class StartRefused extends Error {
  readonly code: string;

  constructor(code: string, message: string) {
    super(message);
    this.code = code;
  }
}
