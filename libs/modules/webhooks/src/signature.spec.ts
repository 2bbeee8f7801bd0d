import { Secret, webhookSecretsOf, parseWebhookSecrets } from '@tollgate/service-kit';
import { Webhook } from 'standardwebhooks';
import { expect, it } from 'vitest';
import { webhookHeaders } from './delivery.ts';

const [old, recent] = [`a:${'x'.repeat(32)}`, `b:${'y'.repeat(32)}`];
const secretsOf = (masters: string) => webhookSecretsOf(parseWebhookSecrets(masters), 'sandbox', 'shop');
const verifierOf = (masters: string) => new Webhook(secretsOf(masters)[0]?.reveal() ?? '');
const message = { id: 'whk_1', body: '{"status":"approved"}' };

// A signer and a verifier of one library could agree on anything: this value comes from node:crypto.
it('is an HMAC-SHA256 over id, time and body', () => {
  const headers = webhookHeaders(
    { id: 'msg_p5jXN8AQM9LWM0D4loKWxJek', body: '{"test": 2432232314}' },
    [new Secret('whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw')],
    1_614_265_330_000,
  );
  expect(headers).toEqual({
    'webhook-id': 'msg_p5jXN8AQM9LWM0D4loKWxJek',
    'webhook-timestamp': '1614265330',
    'webhook-signature': 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
  });
});

it('is verified by holders of either secret during a rotation', () => {
  const headers = webhookHeaders(message, secretsOf(`${recent},${old}`), Date.now());
  expect(headers['webhook-signature']?.split(' ')).toHaveLength(2);
  for (const master of [old, recent]) verifierOf(master).verify(message.body, headers);
});

it.each(['webhook-id', 'webhook-timestamp'])('is valid for its %s only', (name) => {
  const headers = webhookHeaders(message, secretsOf(old), Date.now());
  const changed = { ...headers, [name]: name === 'webhook-id' ? 'whk_2' : String(Number(headers[name]) - 1) };
  expect(() => verifierOf(old).verify(message.body, changed)).toThrow('No matching signature');
});

it('is valid for its body and its team only', () => {
  const headers = webhookHeaders(message, secretsOf(old), Date.now());
  expect(() => verifierOf(old).verify('{}', headers)).toThrow('No matching signature');
  expect(() => verifierOf(recent).verify(message.body, headers)).toThrow('No matching signature');
});
