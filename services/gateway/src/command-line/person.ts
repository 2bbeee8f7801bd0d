/** Who changes something by a command: the person that `--as` names, else the user of the operating system. */
import type { Person } from '@tollgate/payment-domain';
import { hostname, userInfo } from 'node:os';
import { InvalidArgumentError } from 'commander';

/** Before the name of a user of the operating system, so that nobody can be taken for one. */
const ofSystem = 'os:';

/** @throws InvalidArgumentError for what is no name */
export function parsePerson(text: string): string {
  if (
    /^[^\p{Cc}\p{Cf}\p{Zl}\p{Zp}]{1,128}$/u.test(text) &&
    text.trim() === text &&
    !text.startsWith(ofSystem)
  )
    return text;
  throw new InvalidArgumentError(
    `It must be a name or an e-mail address of 1 to 128 characters that does not begin with ${ofSystem}`,
  );
}

export const commandLinePerson = (name: string): Person => ({ kind: 'person', name, source: 'command-line' });

/** Where nobody has said who it is. */
const systemUser = (user: string, host: string): string => `${ofSystem}${user}@${host}`;

/** Who runs this process. */
export const systemPerson = (): string => systemUser(nameOfUser(), hostname());

/** A process need not have a user that has a name. */
function nameOfUser(): string {
  try {
    return userInfo().username;
  } catch {
    return String(process.getuid?.() ?? 'unknown');
  }
}
