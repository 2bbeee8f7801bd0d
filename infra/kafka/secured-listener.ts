/**
 * A second listener of a local broker, with TLS and SASL like production brokers; its secrets are stored next to its
 * data.
 */
import { spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { CannotContinue } from '../stop-with-sentence.ts';

export const securedUser = 'tollgate';

export interface SecuredListener {
  port: number;
  password: string;
  keyStore: string;
}

const keyStoreFile = (dataDir: string) => join(dataDir, 'broker.p12');
const passwordFile = (dataDir: string) => join(dataDir, 'sasl-password');
/** Certificate authority for clients, PEM. */
const certificateFile = (dataDir: string) => join(dataDir, 'ca.pem');

/** Creates a password and a certificate for 127.0.0.1 if they do not exist. @throws CannotContinue */
export function secureListener(java: string, dataDir: string, port: number): SecuredListener {
  if (!existsSync(passwordFile(dataDir))) {
    if (existsSync(join(dataDir, 'log')))
      throw new CannotContinue(
        `The data in ${dataDir} were begun without --secured-port: set --data-dir to a new folder.`,
      );
    const password = randomBytes(16).toString('hex');
    makeCertificate(java, dataDir, password);
    // Written last: if it exists, the setup is complete.
    writeFileSync(passwordFile(dataDir), password, { mode: 0o600 });
  }
  return { port, password: readFileSync(passwordFile(dataDir), 'utf8'), keyStore: keyStoreFile(dataDir) };
}

function makeCertificate(java: string, dataDir: string, password: string): void {
  const store = ['-keystore', keyStoreFile(dataDir), '-storepass', password, '-alias', 'broker'];
  const name = ['-dname', 'CN=localhost', '-ext', 'san=ip:127.0.0.1,dns:localhost'];
  const kind = ['-storetype', 'PKCS12', '-keyalg', 'EC', '-groupname', 'secp256r1', '-validity', '3650'];
  runKeytool(java, ['-genkeypair', ...store, ...kind, ...name]);
  runKeytool(java, ['-exportcert', '-rfc', ...store, '-file', certificateFile(dataDir)]);
}

function runKeytool(java: string, args: readonly string[]): void {
  // Part of Java, in the same folder.
  const keytool = java.includes('/') ? join(dirname(java), 'keytool') : 'keytool';
  const { status, stdout, error } = spawnSync(keytool, args, { encoding: 'utf8' });
  if (status !== 0)
    throw new CannotContinue(`The certificate could not be made: ${error?.message ?? stdout.trim()}`);
}

export const securedProperties = ({ password, keyStore }: SecuredListener) => `
sasl.enabled.mechanisms=PLAIN,SCRAM-SHA-256,SCRAM-SHA-512
ssl.keystore.type=PKCS12
ssl.keystore.location=${keyStore}
ssl.keystore.password=${password}
listener.name.sasl_ssl.plain.sasl.jaas.config=org.apache.kafka.common.security.plain.PlainLoginModule required user_${securedUser}="${password}";
listener.name.sasl_ssl.scram-sha-256.sasl.jaas.config=org.apache.kafka.common.security.scram.ScramLoginModule required;
listener.name.sasl_ssl.scram-sha-512.sasl.jaas.config=org.apache.kafka.common.security.scram.ScramLoginModule required;
`;

/** SCRAM's users are stored in the broker's data. */
export const securedFormatArgs = ({ password }: SecuredListener): string[] =>
  ['SCRAM-SHA-256', 'SCRAM-SHA-512'].flatMap((mechanism) => [
    '--add-scram',
    `${mechanism}=[name=${securedUser},password=${password}]`,
  ]);
