/** What a customer's browser does on the hosted page, by form posts: for the demo and the end-to-end tests. */
import { Agent, request } from 'undici';

interface Visit {
  statusCode: number;
  /** Where the page sends the browser next, absolute; undefined where it stays. */
  location: string | undefined;
  html: string;
}

export interface Customer {
  open(url: string): Promise<Visit>;
  /** Sends a form as a browser does. Redirects are not followed: the caller sees where they lead. */
  submit(url: string, fields: Readonly<Record<string, string>>): Promise<Visit>;
  close(): Promise<void>;
}

/** @param ca certificate authority of the page's server, PEM */
export function createCustomer(ca: string): Customer {
  const dispatcher = new Agent({ connect: { ca } });

  async function visit(url: string, form?: Readonly<Record<string, string>>): Promise<Visit> {
    const headers = { 'content-type': 'application/x-www-form-urlencoded' };
    const body = form === undefined ? {} : { headers, body: new URLSearchParams(form).toString() };
    const response = await request(url, { dispatcher, method: form === undefined ? 'GET' : 'POST', ...body });
    const { location } = response.headers;
    const html = await response.body.text();
    const target = typeof location === 'string' ? new URL(location, url).href : undefined;
    return { statusCode: response.statusCode, location: target, html };
  }

  return { open: (url) => visit(url), submit: visit, close: () => dispatcher.close() };
}

/** The card form filled in. */
const cardForm = (number: string) => ({
  number,
  expiry: '12/2039',
  cvv: '123',
  holder: 'Ada Lovelace',
});

/**
 * Pays on the hosted page; on the authentication page, where there is one, confirms or rejects.
 *
 * @returns the last page's address
 */
export async function payOnHostedPage(
  customer: Customer,
  options: { processingUrl: string; card: string; answer?: 'confirm' | 'reject' },
): Promise<string> {
  await customer.open(options.processingUrl);
  const paid = await customer.submit(options.processingUrl, cardForm(options.card));
  if (paid.location === undefined) throw new Error(`the page did not take the card: HTTP ${paid.statusCode}`);
  if (!paid.location.endsWith('/authentication')) return paid.location;
  await customer.open(paid.location);
  const answered = await customer.submit(paid.location, { answer: options.answer ?? 'confirm' });
  return answered.location ?? paid.location;
}
