import { expect, it } from 'vitest';
import { banner } from './banner.ts';

const quickstart = { gatewayUrl: 'http://127.0.0.1:3000', callbackUrl: '', metricsUrl: '', pid: 1 };
const at = { file: '/data/quickstart.json', folder: '/' };

// It was "ready" while no broker answered, and callbacks were refused.
it('says that it is ready where it is, and else what is missing', () => {
  expect(banner(quickstart, at)).toContain('\nTollgate is ready.\n');
  const missing = banner(quickstart, { ...at, missing: ['message-bus', 'index'] });
  expect(missing).not.toMatch(/ready\./);
  expect(missing).toContain('Tollgate runs, but these parts do not work: message-bus, index. ');
  expect(missing).toContain('http://127.0.0.1:3000/readyz');
});

it('says what runs where, what to try first, and how to stop', () => {
  const sandbox = { paymentServiceUrl: 'https://127.0.0.1:4443', caFile: '/data/ca.pem', apiKey: 'k' };
  const text = banner({ ...quickstart, ...sandbox }, at);
  for (const each of ['/docs', '/docs/errors', '/console', '/console/sandbox', 'https://127.0.0.1:4443'])
    expect(text).toContain(each);
  expect(text).toMatch(/paste this[\s\S]*curl -sS http:\/\/127\.0\.0\.1:3000\/api\/v1\/payments/);
  expect(text).toContain('Press Ctrl-C to stop');
  expect(banner(quickstart, at)).not.toContain('/console/sandbox');
});

// The one was refused for a missing --role, and the key of the other was refused with no_account.
it('prints commands that can be pasted as they are, and no environment that may have no account', () => {
  const text = banner(quickstart, at);
  expect(text).toContain('operator link --role admin');
  expect(text).toContain('key issue <team> --environment <that of your accounts> --scopes');
  const sandbox = { paymentServiceUrl: 'https://127.0.0.1:4443', caFile: '/data/ca.pem' };
  expect(banner({ ...quickstart, ...sandbox }, { ...at, signInLink: 'x' })).toContain(
    'operator link --role admin',
  );
});
