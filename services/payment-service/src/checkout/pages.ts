/** The customer's pages. No external content, every text escaped; the one script is optional. */
import { isPaid, type Payment } from '../payments.ts';
import { cardFields, type CardFault, type CardField, type ShownAgain } from './card-form.ts';
import { html, type Html } from '@tollgate/service-kit';
import { scriptElement } from './script.ts';
import { styleElement } from './style.ts';
import { localise, showAmount, type Localisation, type Texts } from './texts.ts';

/** A rejected form: its faults, and the values that may be shown again. */
export interface FaultyForm {
  faults: Partial<Record<CardField, CardFault>>;
  shown: ShownAgain;
}

/** Status of a payment that needs no further action by the customer. */
type Outcome = 'approved' | 'held' | 'declined' | 'refunded' | 'expired';

/** Why no page can be shown. */
type Trouble = 'notFound' | 'unreadable' | 'failed';

/** What a page shows in addition to its payment. */
export interface PageContext {
  /** The merchant's name. */
  merchant?: string;
  /** BCP 47 tag of a page that has no payment. @default English */
  locale?: string;
}

/** The page with the card form. */
export function cardPage(payment: Payment, faulty?: FaultyForm, context: PageContext = {}): string {
  const localisation = localiseFor(context, payment);
  const { texts } = localisation;
  const { faults, shown } = faulty ?? { faults: {}, shown: { expiry: '', holder: '' } };
  const field = (name: CardField, attributes: Html) => cardField(texts, name, faults[name], attributes);
  const content = html`<h1>${texts.payByCard}</h1>
    ${faultSummary(texts, faults)}
    <form method="post" action="/checkout/${payment.token}" novalidate>
      <div class="field">
        ${field('number', html`inputmode="numeric" autocomplete="cc-number" maxlength="23" data-mistyped="${texts.numberMistypedFault}"`)}
        <span class="brand" id="brand" aria-hidden="true"></span>
      </div>
      <div class="pair">
        <div class="field">
          ${field('expiry', html`inputmode="numeric" autocomplete="cc-exp" maxlength="9" value="${shown.expiry}"`)}
        </div>
        <div class="field">
          ${field('cvv', html`inputmode="numeric" autocomplete="cc-csc" maxlength="4"`)}
        </div>
        ${(['expiry', 'cvv'] as const).map((name) => faultText(texts, name, faults[name]))}
      </div>
      <div class="field">
        ${field('holder', html`autocomplete="cc-name" maxlength="255" value="${shown.holder}"`)}
      </div>
      <button type="submit">${texts.pay.replace('{amount}', () => amountOf(payment, localisation))}</button>
    </form>
    <p class="privacy">${lock}${texts.privacy}</p>
    ${leave(payment, localisation)}`;
  const title = faulty === undefined ? texts.payByCard : `${texts.errorPrefix}: ${texts.payByCard}`;
  return page(localisation, {
    title,
    header: summary(payment, localisation, context),
    main: html`<main class="panel">${content}</main>`,
    script: scriptElement,
  });
}

/** Back to the shop without paying. */
const leave = ({ redirectFailUrl }: Payment, { texts }: Localisation): Html | undefined =>
  redirectFailUrl === undefined
    ? undefined
    : html`<p class="leave"><a href="${new URL(redirectFailUrl).href}">${texts.backToMerchant}</a></p>`;

/** The page on which the customer confirms or rejects, like a bank's. */
export function authenticationPage(payment: Payment, context: PageContext = {}): string {
  const localisation = localiseFor(context, payment);
  const { authenticationTitle: title, authenticationText, confirm, reject } = localisation.texts;
  const content = html`<h1>${title}</h1>
    <p>${authenticationText}</p>
    <form method="post" action="/checkout/${payment.token}/authentication">
      <button type="submit" name="answer" value="confirm">${confirm}</button>
      <button type="submit" name="answer" value="reject" class="second">${reject}</button>
    </form>`;
  return page(localisation, {
    title,
    header: summary(payment, localisation, context),
    main: html`<main class="panel">${content}</main>`,
  });
}

/** The page of a payment that needs no further action by the customer. */
export function outcomePage(payment: Payment, context: PageContext = {}): string {
  const localisation = localiseFor(context, payment);
  const outcome = outcomeOf(payment);
  const { texts } = localisation;
  const title = texts[`${outcome}Title`];
  const merchantUrl = isPaid(payment) ? payment.redirectSuccessUrl : payment.redirectFailUrl;
  const back =
    merchantUrl === undefined
      ? undefined
      : html`<p>
          <a class="button" href="${new URL(merchantUrl).href}">${texts.backToMerchant}</a>
        </p>`;
  const content = html`${sign(outcome)}
    <h1>${title}</h1>
    <p role="status">${texts[`${outcome}Text`]}</p>
    ${back}`;
  return page(localisation, {
    title,
    header: summary(payment, localisation, context),
    main: html`<main class="panel outcome">${content}</main>`,
  });
}

/** The page that explains why no payment can be shown. */
export function troublePage(trouble: Trouble, context: PageContext = {}): string {
  const localisation = localiseFor(context);
  const { texts } = localisation;
  const title = texts[`${trouble}Title`];
  const main = html`<main class="panel outcome">
    ${sign(undefined)}
    <h1>${title}</h1>
    <p>${texts[`${trouble}Text`]}</p>
  </main>`;
  return page(localisation, { title, header: undefined, main });
}

const localiseFor = ({ locale }: PageContext, payment?: Payment): Localisation =>
  localise(payment?.locale || locale || 'en');

/** A paid payment that is not final awaits the merchant's confirmation. */
const outcomeOf = ({ status }: Payment): Outcome =>
  status === 'init' || status === 'pending' ? 'held' : status;

const amountOf = (payment: Payment, { locale }: Localisation): string =>
  showAmount(payment.amount, payment.currency, locale);

function page(
  { language, texts }: Localisation,
  { title, header, main, script }: { title: string; header: Html | undefined; main: Html; script?: Html },
): string {
  const layout = header === undefined ? 'layout alone' : 'layout';
  return html`<!doctype html>
    <html lang="${language}">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="robots" content="noindex" />
        <title>${title}</title>
        ${styleElement}
      </head>
      <body>
        <div class="${layout}">
          <header class="summary">
            <p class="mode">${texts.testMode}</p>
            ${header}
          </header>
          ${main}
        </div>
        ${script}
      </body>
    </html>`.html;
}

/** The shop, the product and the amount, by which the customer recognizes the payment. */
function summary(payment: Payment, localisation: Localisation, { merchant }: PageContext): Html {
  const { texts } = localisation;
  const { orderNumber, product } = payment;
  const brand =
    merchant === undefined
      ? undefined
      : html`<p class="shop">
          <span class="initial" aria-hidden="true">${Array.from(merchant.toUpperCase())[0] ?? ''}</span
          >${merchant}
        </p>`;
  const facts =
    orderNumber === undefined
      ? undefined
      : html`<dl class="facts">${fact(texts.orderNumber, orderNumber)}</dl>`;
  return html`${brand}
    <p class="product">${product}</p>
    <p class="amount">${amountOf(payment, localisation)}</p>
    ${facts}`;
}

const fact = (name: string, shown: string): Html =>
  html`<div>
    <dt>${name}</dt>
    <dd>${shown}</dd>
  </div>`;

/** Lists the faults with links to their fields. It takes the focus, so that screen readers start with it. */
function faultSummary(texts: Texts, faults: FaultyForm['faults']): Html | undefined {
  const items = cardFields.flatMap((name) => {
    const fault = faults[name];
    return fault === undefined ? [] : [html`<li><a href="#${name}">${texts[`${fault}Fault`]}</a></li>`];
  });
  if (items.length === 0) return undefined;
  return html`<div class="faults" role="alert" tabindex="-1" autofocus aria-labelledby="faults-title">
    <h2 id="faults-title">${texts.checkEntries}</h2>
    <ul>
      ${items}
    </ul>
  </div>`;
}

function cardField(texts: Texts, name: CardField, fault: CardFault | undefined, attributes: Html): Html {
  const hint = name === 'expiry' || name === 'cvv' ? texts[`${name}Hint`] : undefined;
  const describedBy = [hint && `${name}-hint`, fault && `${name}-fault`].filter(Boolean).join(' ');
  const description = describedBy === '' ? undefined : html` aria-describedby="${describedBy}"`;
  const invalid = fault === undefined ? undefined : html` aria-invalid="true"`;
  // Errors of two adjacent fields appear below both, where there is room.
  const isInPair = hint !== undefined;
  return html`<label for="${name}">${texts[name]}</label>
    ${hint === undefined ? undefined : html`<span class="hint" id="${name}-hint">${hint}</span>`}
    <input id="${name}" name="${name}" type="text" required ${attributes}${description}${invalid} />
    ${isInPair ? undefined : faultText(texts, name, fault)}`;
}

const faultText = (texts: Texts, name: CardField, fault: CardFault | undefined): Html | undefined =>
  fault === undefined ? undefined : html`<p class="fault" id="${name}-fault">${texts[`${fault}Fault`]}</p>`;

const lock = html`<svg class="lock" viewBox="0 0 24 24" aria-hidden="true">
  <path d="M6 11h12v9H6zM8.5 11V8a3.5 3.5 0 0 1 7 0v3" />
</svg>`;

const signs = {
  good: 'M5 12.5l4.5 4.5L19 7.5',
  bad: 'M6 6l12 12M18 6L6 18',
  note: 'M12 6v7M12 17.5v.01',
} as const;

function sign(outcome: Outcome | undefined): Html {
  const kind = outcome === 'approved' || outcome === 'held' || outcome === 'refunded' ? 'good' : 'bad';
  const shown = outcome === undefined || outcome === 'expired' ? 'note' : kind;
  return html`<svg class="sign ${shown}" viewBox="0 0 24 24" aria-hidden="true">
    <path d="${signs[shown]}" />
  </svg>`;
}
