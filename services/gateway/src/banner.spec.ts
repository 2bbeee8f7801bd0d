import { describe, expect, it } from 'vitest';
import { banner } from './banner.ts';

const quickstart = { gatewayUrl: 'http://127.0.0.1:3000', callbackUrl: '', metricsUrl: '', pid: 1 };
const sandbox = {
  ...quickstart,
  paymentServiceUrl: 'https://127.0.0.1:4443',
  caFile: '/d/ca.pem',
  apiKey: 'k',
};
const { apiKey: _apiKey, ...withoutKey } = sandbox;
const at = { file: '/work/.data/quickstart.json', folder: '/work', signInLink: 'http://127.0.0.1:3000/in' };

describe('the banner', () => {
  // It was "ready" while no broker answered, and callbacks were refused.
  it('reports that the gateway is ready, or names the missing parts', () => {
    expect(banner(quickstart, at)).toMatch(/^Tollgate is ready\. Press Ctrl-C to stop\.\n/);
    const missing = banner(quickstart, { ...at, missing: ['message-bus', 'index'] });
    expect(missing).not.toMatch(/ready\./);
    expect(missing).toContain('Tollgate runs, but these parts do not work: message-bus, index. ');
    expect(missing).toContain('http://127.0.0.1:3000/readyz');
  });

  it.each([
    ['the sandbox', sandbox],
    ['the sandbox without a key', withoutKey],
    ['real accounts', quickstart],
  ])('of %s has at most eight lines, so that npm and it print twelve', (_name, content) => {
    const text = banner(content, at);
    expect(text.trimEnd().split('\n').length).toBeLessThanOrEqual(8);
    expect(text).not.toMatch(/['"]/);
    expect(text).toContain('  .data/quickstart.json');
  });

  it('shows the sign-in link, the card and the demo only with the sandbox', () => {
    const text = banner(sandbox, at);
    for (const each of [at.signInLink, '4392963203551251', 'npm run demo', 'https://127.0.0.1:4443', '/docs'])
      expect(text).toContain(each);
    expect(banner(quickstart, at)).not.toMatch(/127\.0\.0\.1:3000\/in|439296|npm run demo|Add a team/);
  });

  // The one was refused for a missing --role, the other for an environment without an account.
  it('prints commands that run as printed', () => {
    expect(banner(quickstart, at)).toContain('operator link --role admin');
    expect(banner(withoutKey, at)).toContain(
      'none: npm run tollgate -- key issue demo --environment sandbox --scopes payments,refunds,read',
    );
    // With two active keys, a third was refused.
    expect(banner(withoutKey, { ...at, keyToRevoke: 'k1' })).toContain(
      'none: npm run tollgate -- key revoke demo k1 && npm run tollgate -- key issue demo ',
    );
  });
});
