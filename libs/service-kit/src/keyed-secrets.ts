/** Our rotated secrets: each has a name, which is public and stored with its results. */
import { StartupError } from './errors.ts';
import { Secret } from './secret.ts';

export interface KeyedSecret {
  /** Name of the secret for rotation: 1 to 16 letters and digits. */
  kid: string;
  secret: Secret;
}

const counts = ['none', 'one', 'one or two'];

/**
 * Reads `kid:secret,kid:secret`: one to `countMax` secrets of at least 32 characters, the one for new data first.
 *
 * @throws StartupError with the variable, without the text
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
