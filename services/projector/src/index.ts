export * from './projector.ts';
