/** Several projections of the same events, which are read, decoded and folded once for all of them. */
import type { RecordedEvent } from '@tollgate/event-store';
import { nextRevision, type ViewEnvelope } from '@tollgate/views';
import { allOrThrow } from './all-or-throw.ts';
import type { Fold, Projection, ProjectionOptions } from './projection.ts';

/** Each keeps its own checkpoint. What one has seen before the others it may be given again, which changes nothing. */
export function createJointProjection(
  options: ProjectionOptions,
  creates: readonly ((options: ProjectionOptions) => Projection)[],
): Projection {
  const shared = createSharedFold();
  const projections = creates.map((create) => create({ ...options, fold: shared.fold }));

  const project: Projection['project'] = async (batch, reached) => {
    // Where a kill has left one behind, the others wait for it: their checkpoints must not go back.
    const behind = projections.filter((each) => each.position() <= reached.position);
    try {
      await allOrThrow(behind.map((each) => each.project(batch, reached)));
    } finally {
      shared.forget();
    }
  };

  return {
    resume: async () => {
      for (const each of projections) await each.resume();
    },
    project,
    position: () =>
      projections.map((each) => each.position()).reduce((one, other) => (one < other ? one : other)),
    failedStreams: () => projections.flatMap((each) => each.failedStreams()),
  };
}

/** The state after an event is the same whoever asks, so the first one to fold it does so for all. */
function createSharedFold(): { fold: Fold; forget: () => void } {
  const states = new Map<RecordedEvent, ViewEnvelope>();
  const fold: Fold = (kind, view, event) => {
    // A document that has seen the event stays as it is, and one with events missing is the kind's to refuse.
    if (event.revision !== nextRevision(view)) return kind.fold(view, event);
    const known = states.get(event);
    if (known !== undefined) return known;
    const state = kind.fold(view, event);
    states.set(event, state);
    return state;
  };
  return { fold, forget: () => states.clear() };
}
