/** The page to which a person returns after signing in: the requested one, or the one with the submitted form. */
import type { FastifyReply, FastifyRequest } from 'fastify';
import { cookieIn, setCookie } from './cookies.ts';

const name = 'tollgate-console-return';
/** Maximum duration of signing in. @unit seconds */
const lifetime = 3_600;
const lengthMax = 2_000;

const isOwnPage = (address: string): boolean =>
  /^\/console(?![\w-])(?!\/(sign-in|static|search\/suggestions))[!-~]*$/.test(address) &&
  address.length <= lengthMax;

export function keepReturnAddress(request: FastifyRequest, reply: FastifyReply, secure: string): void {
  const { referer } = request.headers;
  const page = request.method === 'GET' ? request.url : pathOf(referer);
  if (page !== undefined && isOwnPage(page))
    setCookie(reply, { name, value: encodeURIComponent(page), age: lifetime, secure });
}

/** Also deletes it. */
export function takeReturnAddress(request: FastifyRequest, reply: FastifyReply, secure: string): string {
  const kept = cookieIn(request, name);
  if (kept === undefined) return '/console';
  setCookie(reply, { name, value: '', age: 0, secure });
  const page = /^[\w%.*!~'()-]*$/.test(kept) ? decoded(kept) : '';
  return isOwnPage(page) ? page : '/console';
}

function pathOf(url: string | undefined): string | undefined {
  if (url === undefined || !URL.canParse(url)) return undefined;
  const { pathname, search } = new URL(url);
  return `${pathname}${search}`;
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return '';
  }
}
