export { openStoreInThread, temporaryFile, temporaryStore } from './temporary-store.ts';
export { appended } from './given-events.ts';
