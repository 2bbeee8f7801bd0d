/** The operating system's user of this process, as the actor of changes. */
import { hostname, userInfo } from 'node:os';

export const systemPerson = (): string => `os:${nameOfUser()}@${hostname()}`;

/** A process may run as a user without a name. */
function nameOfUser(): string {
  try {
    return userInfo().username;
  } catch {
    return String(process.getuid?.() ?? 'unknown');
  }
}
