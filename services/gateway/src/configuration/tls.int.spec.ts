import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { readTlsFiles } from './tls.ts';

const folder = mkdtempSync(join(tmpdir(), 'tollgate-tls-'));
const file = (name: string, text: string) => {
  writeFileSync(join(folder, name), text);
  return join(folder, name);
};
afterAll(() => rmSync(folder, { recursive: true }));

const rubbish = file('rubbish.pem', 'rubbish');

test.each([
  ['GATEWAY_TLS_CERT_FILE', { certFile: join(folder, 'no.pem'), keyFile: rubbish }],
  ['GATEWAY_TLS_KEY_FILE', { certFile: rubbish, keyFile: join(folder, 'no.pem') }],
  ['in PEM form', { certFile: rubbish, keyFile: rubbish }],
])('files that cannot be used end the start with a sentence: %s', (word, files) => {
  expect(() => readTlsFiles(files)).toThrow(word);
});
