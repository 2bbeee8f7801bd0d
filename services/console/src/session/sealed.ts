/** Values that a browser keeps for the next page, in a URL or a cookie, with a MAC. */
import { isSameText } from '@tollgate/service-kit';

type Mac = (purpose: string, text: string) => string;

/** @param purpose for which alone it opens again */
export function seal(mac: Mac, purpose: string, value: object): string {
  const payload = Buffer.from(JSON.stringify(value)).toString('base64url');
  return `${payload}.${mac(purpose, payload)}`;
}

/** Undefined if it was not sealed for this purpose. */
export function unseal(mac: Mac, purpose: string, sealed: string): unknown {
  const [payload = '', given = ''] = sealed.split('.', 2);
  if (!isSameText(given, mac(purpose, payload))) return undefined;
  return JSON.parse(Buffer.from(payload, 'base64url').toString());
}
