/** Named lists: predefined views, and the reader's saved ones. Each is just a URL. */
import type { AnswerOf } from '@tollgate/gateway-api/http';
import { type Html, html } from '@tollgate/service-kit';
import type { Action } from '../page.ts';
import type { Session } from '../session/sessions.ts';
import { buttonForm, hiddenFields } from './form.ts';
import { answered } from './notice.ts';
import { tabs } from './table.ts';

type SavedView = AnswerOf<'SavedViews'>['views'][number];

/** Predefined views; each is just a URL. */
const views = [
  ['All', ''],
  ['Waiting for the customer', 'phase=init'],
  ['Unresolved', 'unresolved=true'],
  ['Unresolved, over an hour old', 'unresolved=true&before=1h'],
  ['Refunds open', 'refundOpen=true'],
  ['With a review', 'needsReview=true'],
  ['Declined today', 'phase=declined&last=24h'],
] as const;

/** Identifies a list, regardless of its page. */
const viewQueryOf = (query: URLSearchParams): string =>
  new URLSearchParams([...query].filter(([name, value]) => name !== 'cursor' && value !== '')).toString();

export function viewLinks(query: URLSearchParams, saved: readonly SavedView[], session: Session): Html {
  const here = viewQueryOf(query);
  const addressOf = (view: string) => `/console/payments${view === '' ? '' : `?${view}`}`;
  const known = views.some(([, address]) => address === here);
  const own = saved.find((view) => view.query === here);
  const form = own === undefined ? (known ? undefined : saveForm(here, session)) : removeForm(own, session);
  const all = [...views, ...saved.map((view) => [view.name, view.query] as const)];
  return tabs(
    'Views',
    addressOf(here),
    all.map(([name, view]) => [name, addressOf(view)]),
    form,
  );
}

const saveForm = (query: string, { csrf }: Session): Html =>
  html`<details class="save-view">
    <summary>Save this view</summary>
    <form method="post" action="/console/payments/views">
      ${hiddenFields({ csrf, query })}
      <label>Name<input name="name" required maxlength="40" autocomplete="off" /></label>
      <button class="strong">Save</button>
    </form>
  </details>`;

const removeForm = ({ name, query }: SavedView, { csrf }: Session): Html => {
  const button = html`<button class="quiet">Remove “${name}”</button>`;
  return buttonForm('/console/payments/views/remove', { csrf, name, query }, button);
};

/** Rebuilt, so that it can only link to the list. */
const queryIn = (form: URLSearchParams): string => viewQueryOf(new URLSearchParams(form.get('query') ?? ''));

const listOf = (form: URLSearchParams): string => `/console/payments?${queryIn(form)}`;

export const saveView: Action = async ({ api }, form) => {
  const body = { name: form.get('name') ?? '', query: queryIn(form) };
  const answer = await api.post('/api/v1/admin/views', body);
  return answered(answer, listOf(form), 'The view is saved. Only you see it.');
};

export const removeView: Action = async ({ api }, form) => {
  const answer = await api.post('/api/v1/admin/views/remove', { name: form.get('name') ?? '' });
  return answered(answer, listOf(form), 'The view is removed.');
};
