import { inspect } from 'node:util';

const mask = '[secret]';

/**
 * A text that must never be printed. Logs, errors and JSON show a mask; only {@link Secret.reveal} returns the text, so that
 * each use can be found by its name.
 */
export class Secret {
  readonly #text: string;

  constructor(text: string) {
    this.#text = text;
  }

  /** The text itself. Pass it on to the one call that needs it, never to a variable that lives on. */
  reveal(): string {
    return this.#text;
  }

  toString(): string {
    return mask;
  }

  toJSON(): string {
    return mask;
  }

  [inspect.custom](): string {
    return mask;
  }
}
