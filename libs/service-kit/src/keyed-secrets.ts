/** Secrets of ours that are rotated: each has a name, which may be shown and kept next to what was made with it. */
import { StartupError } from './errors.ts';
import { Secret } from './secret.ts';

export interface KeyedSecret {
  /** Names the secret for those who rotate it: 1 to 16 letters and digits. */
  kid: string;
  secret: Secret;
}

const counts = ['none', 'one', 'one or two'];

/**
 * Reads `kid:secret,kid:secret`: one to `countMax` secrets of at least 32 characters, the one that is used for what is new
 * first.
 *
 * @throws StartupError that names the variable; the text is not repeated
 */
export function parseKeyedSecrets(
  variable: string,
  text: string,
  countMax: number,
): readonly [KeyedSecret, ...KeyedSecret[]] {
  const parts = text.split(',').map((part) => /^([A-Za-z0-9]{1,16}):(.{32,})$/.exec(part.trim()));
  const [first, ...others] = parts.flatMap((match) =>
    match?.[1] === undefined || match[2] === undefined
      ? []
      : [{ kid: match[1], secret: new Secret(match[2]) }],
  );
  const read = first === undefined ? [] : [first, ...others];
  const kids = new Set(read.map(({ kid }) => kid));
  if (
    first === undefined ||
    read.length !== parts.length ||
    read.length > countMax ||
    kids.size !== read.length
  )
    throw new StartupError(
      'config_invalid',
      `${variable} must be ${counts[countMax] ?? `one to ${countMax}`} entries written kid:secret, separated by a comma, each secret at least 32 characters.`,
    );
  return [first, ...others];
}
