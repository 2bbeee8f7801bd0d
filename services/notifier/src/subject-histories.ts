import { StoreUnavailable, type EventStore, type RecordedEvent } from '@tollgate/event-store';
import type { ViewEnvelope } from '@tollgate/views';
import type { Log } from '@tollgate/service-kit';
import type { Step } from './notices.ts';
import type { Subject } from './subjects.ts';

/** Payments and payouts held in memory at most; the least recently used go first and are read again when they come back. */
const viewsMax = 5_000;

export interface SubjectHistories {
  /** To be asked in the order of the events; undefined where a stream cannot be read on. */
  stepOf(subject: Subject, event: RecordedEvent): Promise<Step | undefined>;
}

export function createSubjectHistories({ store, log }: { store: EventStore; log: Log }): SubjectHistories {
  const views = new Map<string, ViewEnvelope>();
  const damaged = new Set<string>();

  async function viewBefore(
    { kind }: Subject,
    { stream, revision }: RecordedEvent,
  ): Promise<ViewEnvelope | undefined> {
    const known = views.get(stream);
    if (known !== undefined || revision === 0) return known;
    let view: ViewEnvelope | undefined;
    for await (const earlier of store.read(stream, { limit: revision })) view = kind.fold(view, earlier);
    return view;
  }

  function remember(stream: string, view: ViewEnvelope): void {
    views.delete(stream);
    views.set(stream, view);
    const [oldest] = views.keys();
    if (views.size > viewsMax && oldest !== undefined) views.delete(oldest);
  }

  return {
    async stepOf(subject, event) {
      if (damaged.has(event.stream)) return undefined;
      try {
        const before = await viewBefore(subject, event);
        const after = subject.kind.fold(before, event);
        remember(event.stream, after);
        return { before, after };
      } catch (error) {
        // Says nothing about the stream: following begins again from the checkpoint.
        if (error instanceof StoreUnavailable) throw error;
        // One damaged stream must not keep all other teams from being told.
        damaged.add(event.stream);
        const { stream, revision } = event;
        log.error({ error, stream, revision }, 'a stream cannot be read; its team is not notified any more');
        return undefined;
      }
    },
  };
}
