/** Parts of forms. */
import { type Html, html } from '@tollgate/service-kit';

/** Fields that the reader does not see. */
export const hiddenFields = (fields: Readonly<Record<string, string>>): Html =>
  html`${Object.entries(fields).map(([name, value]) => html`<input type="hidden" name="${name}" value="${value}" />`)}`;

/** A form of one button. @param fields what it sends, with the session's token as `csrf` */
export const buttonForm = (path: string, fields: Readonly<Record<string, string>>, button: Html): Html =>
  html`<form method="post" action="${path}">${hiddenFields(fields)} ${button}</form>`;

/** A part of a page below a heading. @param isRefreshed false if a live page must leave it alone, such as text that a reader types */
export const panel = (id: string, title: Html | string, content: Html, isRefreshed = true): Html =>
  html`<section
    id="${id}"
    class="panel"
    ${isRefreshed ? html`data-region=""` : undefined}
    aria-labelledby="${id}-title"
  >
    <h2 id="${id}-title">${title}</h2>
    ${content}
  </section>`;

/** @param note how the reason is used */
export const reasonField = (note: string): Html =>
  html`<label>Reason (${note})<textarea name="reason" required maxlength="1000" rows="3"></textarea></label>`;
