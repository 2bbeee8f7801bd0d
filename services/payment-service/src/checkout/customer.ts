/** Drives the hosted page with form posts like a customer's browser, for the demo and the end-to-end tests. */
import { Agent, request } from 'undici';

export type Customer = ReturnType<typeof createCustomer>;

/** @param ca certificate authority of the page's server, PEM */
export function createCustomer(ca: string) {
  const dispatcher = new Agent({ connect: { ca } });

  async function visit(url: string, form?: Readonly<Record<string, string>>) {
    const headers = { 'content-type': 'application/x-www-form-urlencoded' };
    const body = form === undefined ? {} : { headers, body: new URLSearchParams(form).toString() };
    const response = await request(url, { dispatcher, method: form === undefined ? 'GET' : 'POST', ...body });
    const { location } = response.headers;
    const html = await response.body.text();
    // Undefined if the page does not redirect.
    const target = typeof location === 'string' ? new URL(location, url).href : undefined;
    return { statusCode: response.statusCode, location: target, html };
  }

  return {
    open: (url: string) => visit(url),
    /** Posts a form like a browser. Redirects are returned, not followed. */
    submit: visit,
    close: () => dispatcher.close(),
  };
}

/** The completed card form. */
const cardForm = (number: string) => ({ number, expiry: '12/2039', cvv: '123', holder: 'Ada Lovelace' });

/** Pays on the hosted page, and confirms on the authentication page if there is one. */
export async function payOnHostedPage(
  customer: Customer,
  { processingUrl, card }: { processingUrl: string; card: string },
): Promise<void> {
  await customer.open(processingUrl);
  const { location, statusCode } = await customer.submit(processingUrl, cardForm(card));
  if (location === undefined) throw new Error(`the page did not take the card: HTTP ${statusCode}`);
  if (!location.endsWith('/authentication')) return;
  await customer.open(location);
  await customer.submit(location, { answer: 'confirm' });
}
