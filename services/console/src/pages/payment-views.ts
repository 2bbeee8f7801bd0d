/** Saves a list of payments by name, and deletes it. */
import { viewQueryOf } from '../components/payment-views.ts';
import { answered } from '../components/notice.ts';
import type { Action, PageContext } from '../page.ts';

export const saveView: Action = (context, form) =>
  change(context, form, {
    path: '/api/v1/admin/views',
    body: { name: form.get('name') ?? '', query: queryIn(form) },
    done: 'The view is saved. Only you see it.',
  });

export const removeView: Action = (context, form) =>
  change(context, form, {
    path: '/api/v1/admin/views/remove',
    body: { name: form.get('name') ?? '' },
    done: 'The view is removed.',
  });

/** Rebuilt, so that it can only link to the list. */
const queryIn = (form: URLSearchParams): string => viewQueryOf(new URLSearchParams(form.get('query') ?? ''));

async function change(
  { api }: PageContext,
  form: URLSearchParams,
  { path, body, done }: { path: string; body: object; done: string },
) {
  const answer = await api.call({ method: 'POST', path, body });
  return answered(answer, `/console/payments?${queryIn(form)}`, done);
}
