export { temporaryFile, temporaryStore } from './temporary-store.ts';
export { servedStore } from './eventstoredb-store.ts';
export { appended } from './given-events.ts';
