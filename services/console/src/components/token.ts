/** Tokens of payments and payouts: shown short, linked to their pages, and copied. */
import { type Html, html } from '@tollgate/service-kit';

/**
 * For example `pay_7f3k…q2xa`: enough to distinguish two, and complete on copying. Request ids are read aloud, so they
 * stay complete.
 */
export const shortToken = (token: string): string => {
  const [prefix = '', rest] = token.split('_', 2);
  if (rest === undefined || rest.length <= 10 || prefix === 'req') return token;
  return `${prefix}_${rest.slice(0, 4)}…${rest.slice(-4)}`;
};

/** Every identifier can be copied, and shows this with an icon. */
export const copyable = (text: string, shown = shortToken(text)): Html =>
  html`<button type="button" class="copy" data-copy="${text}" title="Copy ${text}">
    <code>${shown}</code
    ><svg class="sign" viewBox="0 0 15 15" aria-hidden="true">
      <path d="M5 5h7v7H5zM3 10V3h7" />
    </svg>
  </button>`;

/** The page of a payment or payout. */
export const operationPath = (token: string): string =>
  `/console/${token.startsWith('po_') ? 'payouts' : 'payments'}/${encodeURIComponent(token)}`;

export const operationLink = (token: string, text = token): Html =>
  html`<a href="${operationPath(token)}" title="${text}"><code>${shortToken(text)}</code></a>`;
