export * from './add-route.ts';
export * from './answers.ts';
export * from './authenticate.ts';
export { toPublicAccount } from './account-answers.ts';
export { toPublicCredential } from './credential-answers.ts';
export * from './error-answers.ts';
export * from './errors.ts';
export { type Cost, costOfRead } from './expensive-reads.ts';
export { mayBeKept } from './kept-text.ts';
export * from './openapi.ts';
export type { Schema } from './openapi-schemas.ts';
export type { OperatorAction, OperatorPaymentAnswer, SearchHit } from './operator-answers.ts';
export * from './queries.ts';
export * from './requests.ts';
export * from './route-errors.ts';
export * from './routes.ts';
export { type PublicKey, toPublicKey } from './team-answers.ts';
export { type PositionWaits, createPositionWaits } from './min-position.ts';
export {
  type ReadRouteDependencies,
  addReadRoute,
  parameterOf,
  sendRefusedPage,
  tellPosition,
} from './read-route.ts';
