import { describe, expect, it } from 'vitest';
import { webhookSecretsOf, parseWebhookSecrets } from './webhook-secrets.ts';

const secret = (letter: string) => letter.repeat(32);

describe('parseNotificationSecrets', () => {
  it('reads one master, or two in the order of their use', () => {
    expect(parseWebhookSecrets(`a:${secret('x')}`).map(({ kid }) => kid)).toEqual(['a']);
    const two = parseWebhookSecrets(`b:${secret('y')}, a:${secret('x')}`);
    expect(two.map(({ kid }) => kid)).toEqual(['b', 'a']);
  });

  it.each([
    ['nothing', ''],
    ['no kid', secret('x')],
    ['a short secret', 'a:short'],
    ['the same kid twice', `a:${secret('x')},a:${secret('y')}`],
    ['three secrets', `a:${secret('x')},b:${secret('y')},c:${secret('z')}`],
  ])('refuses %s, names the variable and does not repeat the value', (_name, text) => {
    expect(() => parseWebhookSecrets(text)).toThrow(/WEBHOOK_SECRETS/);
    expect(() => parseWebhookSecrets(text)).not.toThrow(/xxxx|short,/);
  });
});

describe("a team's secrets", () => {
  const [old, recent] = [`a:${secret('x')}`, `b:${secret('y')}`];
  const revealed = (masters: string, environment = 'sandbox', team = 'shop') =>
    webhookSecretsOf(parseWebhookSecrets(masters), environment, team).map((each) => each.reveal());

  it('are 32 bytes each, written as Standard Webhooks writes them, and the same every time', () => {
    const [text = ''] = revealed(old);
    expect(text).toMatch(/^whsec_/);
    expect(Buffer.from(text.slice('whsec_'.length), 'base64')).toHaveLength(32);
    expect(revealed(old)).toEqual([text]);
  });

  it('are of the new master first and of the old one too while there are two', () => {
    expect(revealed(`${recent},${old}`)).toEqual([...revealed(recent), ...revealed(old)]);
  });

  it('differ for every team and environment, even if their names join to the same text', () => {
    const all = [
      revealed(old),
      revealed(old, 'production'),
      revealed(old, 'sandbox', 'games'),
      revealed(old, 'sandboxsh', 'op'),
      revealed(recent),
    ];
    expect(new Set(all.flat()).size).toBe(all.length);
  });

  it('show as a mask wherever they are printed', () => {
    const masters = parseWebhookSecrets(old);
    expect(JSON.stringify(webhookSecretsOf(masters, 'sandbox', 'shop'))).toBe('["[secret]"]');
    expect(JSON.stringify(masters)).not.toContain('xxxx');
  });
});
