/** The outcome of an action, passed to the next page in the URL, with a MAC. */
import { isSameText } from '@tollgate/service-kit';
import type { Outcome } from '../components/notice.ts';
import type { Session } from './sessions.ts';

type Mac = (purpose: string, text: string) => string;
const textMax = 1_000;

export function sealOutcome(mac: Mac, { id }: Pick<Session, 'id'>, outcome: Outcome): string {
  const short = { ...outcome, text: outcome.text.slice(0, textMax) };
  const payload = Buffer.from(JSON.stringify(short)).toString('base64url');
  return `${payload}.${mac(`outcome ${id}`, payload)}`;
}

/** Undefined if it was not issued for this session. */
export function openOutcome(mac: Mac, { id }: Pick<Session, 'id'>, sealed: string): Outcome | undefined {
  const [payload = '', given = ''] = sealed.split('.', 2);
  if (!isSameText(given, mac(`outcome ${id}`, payload))) return undefined;
  return JSON.parse(Buffer.from(payload, 'base64url').toString()) as Outcome;
}
