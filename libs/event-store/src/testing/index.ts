export { openStoreInThread, temporaryFile, temporaryStore, threadedStore } from './temporary-store.ts';
export { appended } from './given-events.ts';
