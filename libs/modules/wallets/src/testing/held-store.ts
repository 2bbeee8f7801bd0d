import type { EventStore } from '@tollgate/event-store';

/** A store whose appends to these streams wait until released: before they are made, or once they are recorded. */
export function holding(prefix: string, when: 'before' | 'after' = 'before', type?: string) {
  const [reached, opened] = [Promise.withResolvers<undefined>(), Promise.withResolvers<undefined>()];
  const hold = async () => {
    reached.resolve(undefined);
    await opened.promise;
  };
  return {
    reached: reached.promise,
    letGo: () => opened.resolve(undefined),
    wrapStore: (store: EventStore): EventStore => ({
      ...store,
      async append(stream, events, ...rest) {
        const isHeld = stream.startsWith(prefix) && (type === undefined || events[0]?.type === type);
        if (isHeld && when === 'before') await hold();
        const answer = await store.append(stream, events, ...rest);
        if (isHeld && when === 'after') await hold();
        return answer;
      },
    }),
  };
}
