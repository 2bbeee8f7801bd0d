/**
 * Locates the keys that sign and verify team events. On one machine a pair is created in the data directory; if
 * services run apart, only the command line has the private key, and every service the public ones.
 */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TeamKeys, createTeamSigner, createTeamVerifier, newSigningKeys } from '@tollgate/teams';
import { Secret, StartupError, errorCode, once, secretSchema } from '@tollgate/service-kit';
import { z } from 'zod';
import { makePrivately } from './data-directory.ts';

export const teamSigningEnvironmentSchema = z
  .object({
    TOLLGATE_TEAM_SIGNING_KEY: secretSchema.describe(
      'Private key that signs changes of teams and keys (Ed25519, PKCS#8, PEM). Only the command line needs it.',
    ),
    TOLLGATE_TEAM_SIGNING_KEY_FILE: z.string().optional().meta({
      description: 'File with that private key.',
      unset: '`operator-signing.key` of the data directory',
    }),
    TOLLGATE_TEAM_SIGNING_PUBLIC_KEY: z
      .string()
      .optional()
      .describe(
        'Public keys that verify those signatures (SPKI, PEM, concatenated), including the keys used before a rotation.',
      ),
    TOLLGATE_TEAM_SIGNING_PUBLIC_KEY_FILE: z.string().optional().meta({
      description: 'File with those public keys.',
      unset: '`operator-signing.pub` of the data directory',
    }),
  })
  .transform((env) => ({
    privateKey: env.TOLLGATE_TEAM_SIGNING_KEY,
    privateKeyFile: env.TOLLGATE_TEAM_SIGNING_KEY_FILE,
    publicKeys: env.TOLLGATE_TEAM_SIGNING_PUBLIC_KEY,
    publicKeysFile: env.TOLLGATE_TEAM_SIGNING_PUBLIC_KEY_FILE,
  }));
export type TeamSigningConfig = Partial<z.infer<typeof teamSigningEnvironmentSchema>>;

export interface InstalledTeamKeys extends TeamKeys {
  /** Creates missing keys of the pair. @returns the public keys, PEM, and their location */
  install(): { publicKeys: string; publicKeysFile: string | undefined };
}

/** @param mayInstall true to create a missing pair: not if the services run apart */
export function openTeamKeys(
  config: TeamSigningConfig,
  { path }: { path: string },
  { mayInstall }: { mayInstall: boolean },
): InstalledTeamKeys {
  const privateFile = config.privateKeyFile ?? join(path, 'operator-signing.key');
  const publicFile = config.publicKeysFile ?? join(path, 'operator-signing.pub');

  const readPrivateKey = (): Secret | undefined => {
    if (config.privateKey !== undefined) return config.privateKey;
    if (!existsSync(privateFile)) return undefined;
    return new Secret(readKeyFile(privateFile, 'TOLLGATE_TEAM_SIGNING_KEY_FILE'));
  };
  const readPublicKeys = (): string | undefined =>
    config.publicKeys ??
    (existsSync(publicFile) ? readKeyFile(publicFile, 'TOLLGATE_TEAM_SIGNING_PUBLIC_KEY_FILE') : undefined);

  const signerOf = (privateKey: Secret) =>
    orNamed(() => createTeamSigner(privateKey), {
      isSet: config.privateKey !== undefined,
      variable: 'TOLLGATE_TEAM_SIGNING_KEY',
      file: privateFile,
    });
  const verifierOf = (publicKeysPem: string) =>
    orNamed(() => createTeamVerifier(publicKeysPem), {
      isSet: config.publicKeys !== undefined,
      variable: 'TOLLGATE_TEAM_SIGNING_PUBLIC_KEY',
      file: publicFile,
    });

  function install(): ReturnType<InstalledTeamKeys['install']> {
    const known = readPublicKeys();
    const publicKeysFile = config.publicKeys === undefined ? publicFile : undefined;
    if (known !== undefined) return { publicKeys: known, publicKeysFile };
    if (readPrivateKey() === undefined) makePrivately(privateFile, newSigningKeys().privateKey.reveal());
    // Of two first starts, both use the same pair.
    const { publicKey } = signerOf(readPrivateKey() ?? missingPrivateKey());
    makePrivately(publicFile, publicKey);
    return { publicKeys: readPublicKeys() ?? publicKey, publicKeysFile };
  }

  const publicKeys = () => readPublicKeys() ?? (mayInstall ? install().publicKeys : missingPublicKey());
  return {
    install,
    verifier: once(() => verifierOf(publicKeys())),
    signer: once(() => {
      const { kids } = verifierOf(publicKeys());
      const signer = signerOf(readPrivateKey() ?? missingPrivateKey());
      if (!kids.includes(signer.kid)) throw foreignPrivateKey();
      return signer;
    }),
  };
}

function readKeyFile(file: string, variable: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    const reason = errorCode(error) ?? 'unknown error';
    throw new StartupError('config_invalid', `${variable} names ${file}, which cannot be read (${reason}).`);
  }
}

/** Reports the source of an invalid key. */
function orNamed<Made>(
  make: () => Made,
  { isSet, variable, file }: { isSet: boolean; variable: string; file: string },
): Made {
  try {
    return make();
  } catch (cause) {
    if (errorCode(cause) !== 'signing_key_invalid') throw cause;
    const message = isSet
      ? `${variable} is not an Ed25519 key in PEM. Correct it and start again.`
      : `The file ${file} is empty, damaged or not an Ed25519 key in PEM. Restore it from a backup and start again.`;
    throw new StartupError('config_invalid', message, { cause });
  }
}

function missingPublicKey(): never {
  throw new StartupError(
    'config_invalid',
    'No public key verifies team events. Set TOLLGATE_TEAM_SIGNING_PUBLIC_KEY or TOLLGATE_TEAM_SIGNING_PUBLIC_KEY_FILE, or run tollgate init-signing on the host that manages teams.',
  );
}

function missingPrivateKey(): never {
  throw new StartupError(
    'signing_key_missing',
    'Changes of teams are signed, and this host lacks the private key. Set TOLLGATE_TEAM_SIGNING_KEY or TOLLGATE_TEAM_SIGNING_KEY_FILE.',
  );
}

const foreignPrivateKey = () =>
  new StartupError(
    'signing_key_foreign',
    'This private key does not match any public key in TOLLGATE_TEAM_SIGNING_PUBLIC_KEY, its file or operator-signing.pub.',
  );
