import { describe, expect, it } from 'vitest';
import { notificationSecretsOf, parseNotificationSecrets } from './notification-secrets.ts';

const secret = (letter: string) => letter.repeat(32);

describe('parseNotificationSecrets', () => {
  it('reads one master, or two in the order of their use', () => {
    expect(parseNotificationSecrets(`a:${secret('x')}`).map(({ kid }) => kid)).toEqual(['a']);
    const two = parseNotificationSecrets(`b:${secret('y')}, a:${secret('x')}`);
    expect(two.map(({ kid }) => kid)).toEqual(['b', 'a']);
  });

  it.each([
    ['nothing', ''],
    ['no kid', secret('x')],
    ['a short secret', 'a:short'],
    ['the same kid twice', `a:${secret('x')},a:${secret('y')}`],
    ['three secrets', `a:${secret('x')},b:${secret('y')},c:${secret('z')}`],
  ])('refuses %s, names the variable and does not repeat the value', (_name, text) => {
    expect(() => parseNotificationSecrets(text)).toThrow(/NOTIFICATION_SECRETS/);
    expect(() => parseNotificationSecrets(text)).not.toThrow(/xxxx|short,/);
  });
});

describe("a team's secrets", () => {
  const [old, recent] = [`a:${secret('x')}`, `b:${secret('y')}`];
  const revealed = (masters: string, environment = 'sandbox', team = 'shop') =>
    notificationSecretsOf(parseNotificationSecrets(masters), environment, team).map((each) => each.reveal());

  it('are 32 bytes each, written as Standard Webhooks writes them, and the same every time', () => {
    const [text = ''] = revealed(old);
    expect(text).toMatch(/^whsec_/);
    expect(Buffer.from(text.slice('whsec_'.length), 'base64')).toHaveLength(32);
    expect(revealed(old)).toEqual([text]);
  });

  it('are of the new master first and of the old one too while there are two', () => {
    expect(revealed(`${recent},${old}`)).toEqual([...revealed(recent), ...revealed(old)]);
  });

  it('differ for every team and environment, wherever the line between the two is drawn', () => {
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
    const masters = parseNotificationSecrets(old);
    expect(JSON.stringify(notificationSecretsOf(masters, 'sandbox', 'shop'))).toBe('["[secret]"]');
    expect(JSON.stringify(masters)).not.toContain('xxxx');
  });
});
