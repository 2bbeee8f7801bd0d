/** A list over all teams with tabs by state: refunds, disputes or payouts. */
import type { Page } from '../page.ts';
import { csvMenu } from './csv-menu.ts';
import { filterForm, ownerFields } from './filters.ts';
import { listPage } from './list-page.ts';
import { toApiQuery } from './payment-query.ts';
import { type List, tabs } from './table.ts';

interface PartList<Part> {
  /** Name in console and API URLs, and the list's field. */
  name: 'refunds' | 'disputes' | 'payouts';
  title: string;
  none: string;
  /** When entries appear. */
  noneHow: string;
  /** The filter controlled by the tabs. */
  tabFilter: 'status' | 'phase';
  /** Label of each tab with its value; the first one is the most important to watch. */
  views: readonly (readonly [name: string, value: string])[];
  /** Filters by a text, in addition to team, environment and time. */
  texts: readonly string[];
  list: List<Part>;
  hasFile?: boolean;
}

export const partListPage =
  <Part>({ name, tabFilter, views, texts, hasFile = true, ...page }: PartList<Part>): Page =>
  async (context) => {
    const { api, query, now } = context;
    const path = `/console/${name}`;
    const asked = toApiQuery(query, now);
    const view = query.get(tabFilter) ?? views[0]?.[1] ?? '';
    if (view !== '') asked.set(tabFilter, view);
    const [{ found, wrong }, { teams }] = await Promise.all([
      api.filtered<'OperatorRefundList'>(`/api/v1/admin/${name}?${asked.toString()}`),
      api.get<'TeamNames'>('/api/v1/admin/teams'),
    ]);
    const answer = found as Partial<Record<string, readonly Part[]>> | undefined;
    const addressOf = (each: string): string => `${path}?${tabFilter}=${each}`;
    const textFields = Object.fromEntries(texts.map((each) => [each, 'text'] as const));
    return listPage(context, {
      ...page,
      path,
      rows: answer?.[name] ?? [],
      nextCursor: found?.nextCursor,
      file: wrong === undefined && hasFile ? csvMenu(path, asked, now) : undefined,
      tabs: tabs(
        page.title,
        addressOf(view),
        views.map(([tab, each]) => [tab, addressOf(each)]),
      ),
      filters: filterForm(
        path,
        query,
        { [tabFilter]: 'hidden', ...ownerFields(teams), ...textFields, from: 'instant', to: 'instant' },
        { given: { [tabFilter]: view } },
      ),
      shownElsewhere: [tabFilter],
      wrong,
    });
  };
