import type { EventStore, RecordedEvent } from '@tollgate/event-store';
import type { ViewEnvelope } from '@tollgate/views';
import type { PublishedKind } from './published-kinds.ts';

/** Documents held in memory at most; the least recently used go first and are read again when they come back. */
const viewsMax = 10_000;

/** What events are about, as it stood right after each. */
export interface Histories {
  /** @throws StoreUnavailable; what the fold throws where the stream cannot be read on */
  viewAfter(kind: PublishedKind, event: RecordedEvent): Promise<ViewEnvelope>;
}

export function createHistories(store: Pick<EventStore, 'read'>): Histories {
  const recent = new Map<string, ViewEnvelope>();

  async function viewBefore({ views }: PublishedKind, { stream, revision }: RecordedEvent) {
    const known = recent.get(stream);
    if (revision === 0 || known?.revision === revision - 1) return known;
    let view: ViewEnvelope | undefined;
    for await (const earlier of store.read(stream, { limit: revision })) view = views.fold(view, earlier);
    return view;
  }

  function remember(stream: string, view: ViewEnvelope): void {
    recent.delete(stream);
    recent.set(stream, view);
    const [oldest] = recent.keys();
    if (recent.size > viewsMax && oldest !== undefined) recent.delete(oldest);
  }

  return {
    viewAfter: async (kind, event) => {
      const before = event.revision === 0 ? undefined : await viewBefore(kind, event);
      const view = kind.views.fold(before, event);
      remember(event.stream, view);
      return view;
    },
  };
}
