/** How the system is arranged while it is tormented: as which processes, and where events and topics are. */

/** All in one process; two such gateways on one folder; two processes of each service. */
const shapes = ['one-process', 'two-gateways', 'services'] as const;
/** The embedded file; Kafka for the topics; a server of EventStoreDB's protocol for the events; both. */
const stores = ['', '-kafka', '-eventstoredb', '-eventstoredb-kafka'] as const;

type Shape = (typeof shapes)[number];
export type ArrangementName = `${Shape}${(typeof stores)[number]}`;

export interface Arrangement {
  name: ArrangementName;
  shape: Shape;
  isOnKafka: boolean;
  isOnEventStoreDb: boolean;
}

const all: readonly Arrangement[] = stores.flatMap((store) =>
  shapes.map((shape) => ({
    ...{ name: `${shape}${store}` as const, shape },
    ...{ isOnKafka: store.endsWith('-kafka'), isOnEventStoreDb: store.startsWith('-eventstoredb') },
  })),
);

export const arrangementNames: readonly ArrangementName[] = all.map(({ name }) => name);

/** Each shape on each kind of store, and the one of production on both servers: what is not named adds no other pair. */
export const usual: readonly Arrangement[] = all.filter(
  ({ shape, isOnKafka, isOnEventStoreDb }) => shape === 'services' || !(isOnKafka && isOnEventStoreDb),
);

export const arrangementNamed = (name: string): Arrangement | undefined =>
  all.find((arrangement) => arrangement.name === name);
