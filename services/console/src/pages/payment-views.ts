/** Saves a list of payments by name, and deletes it. */
import { viewQueryOf } from '../components/payment-views.ts';
import { answered } from '../components/notice.ts';
import type { Action } from '../page.ts';

export const saveView: Action = async ({ api }, form) => {
  const body = { name: form.get('name') ?? '', query: queryIn(form) };
  const answer = await api.post('/api/v1/admin/views', body);
  return answered(answer, listOf(form), 'The view is saved. Only you see it.');
};

export const removeView: Action = async ({ api }, form) => {
  const answer = await api.post('/api/v1/admin/views/remove', { name: form.get('name') ?? '' });
  return answered(answer, listOf(form), 'The view is removed.');
};

/** Rebuilt, so that it can only link to the list. */
const queryIn = (form: URLSearchParams): string => viewQueryOf(new URLSearchParams(form.get('query') ?? ''));

const listOf = (form: URLSearchParams): string => `/console/payments?${queryIn(form)}`;
