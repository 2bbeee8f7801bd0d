export * from './add-route.ts';
export * from './answers.ts';
export * from './authenticate.ts';
export * from './errors.ts';
export * from './openapi.ts';
export type { OperatorAction, OperatorPaymentAnswer } from './operator-answers.ts';
export * from './queries.ts';
export * from './requests.ts';
export * from './routes.ts';
