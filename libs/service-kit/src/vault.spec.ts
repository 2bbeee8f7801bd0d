import { propertyRuns } from '@tollgate/testing';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseDataSecrets } from './data-secrets.ts';
import { systemIds } from './ids.ts';
import { createVault, keyIdOf } from './vault.ts';

const secretOf = (kid: string, letter = kid) => `${kid}:${letter.repeat(32)}`;
const vaultUnder = (...secrets: string[]) => createVault(parseDataSecrets(secrets.join(',')), systemIds);

const damaged = expect.objectContaining({ code: 'sealed_data_damaged' });

describe('a vault', () => {
  it('opens what was sealed, and never seals the same twice', () => {
    const vault = vaultUnder(secretOf('a'));
    fc.assert(
      fc.property(fc.string(), (text) => {
        const [one, other] = [vault.seal(text, 'stream-1'), vault.seal(text, 'stream-1')];
        expect(vault.open(one, 'stream-1')).toBe(text);
        expect(other).not.toBe(one);
      }),
      { numRuns: propertyRuns(50) },
    );
  });

  it('shows the name of the master, and nothing of the text', () => {
    const sealed = vaultUnder(secretOf('a')).seal('ada@example.com', 'stream-1');
    expect(keyIdOf(sealed)).toBe('a');
    expect(sealed).not.toContain('ada');
    expect(Buffer.from(sealed, 'base64url').toString('latin1')).not.toContain('ada');
  });

  it('opens nothing that was moved to another place', () => {
    const vault = vaultUnder(secretOf('a'));
    const sealed = vault.seal('text', 'stream-1');
    expect(() => vault.open(sealed, 'stream-2')).toThrow(damaged);
  });

  it('opens nothing that was changed, cut, or is not sealed', () => {
    const vault = vaultUnder(secretOf('a'));
    const sealed = vault.seal('text', 'stream-1');
    const wrong = [sealed.slice(0, -3), `${sealed.slice(0, -3)}AAA`, 'text', '', 'v1.a.b.c', 'v1.a..'];
    for (const each of wrong) expect(() => vault.open(each, 'stream-1'), each).toThrow(damaged);
  });

  it('opens under an earlier master, and reports a missing one', () => {
    const sealed = vaultUnder(secretOf('a')).seal('text', 'stream-1');
    expect(vaultUnder(secretOf('b'), secretOf('a')).open(sealed, 'stream-1')).toBe('text');
    const missing = () => vaultUnder(secretOf('b')).open(sealed, 'stream-1');
    expect(missing).toThrow(/DATA_SECRETS lacks the data secret a/);
    const other = () => vaultUnder(secretOf('a', 'z')).open(sealed, 'stream-1');
    expect(other).toThrow(damaged);
  });
});

it.each([
  ['nothing', ''],
  ['a short secret', 'a:short'],
  ['the same name twice', `${secretOf('a')},${secretOf('a', 'b')}`],
  ['seventeen', Array.from({ length: 17 }, (_, index) => secretOf(`k${index}`, 'x')).join(',')],
])('data secrets may not be %s', (_name, text) => {
  expect(() => parseDataSecrets(text)).toThrow(/^DATA_SECRETS must be one to 16 entries written kid:secret/);
});
