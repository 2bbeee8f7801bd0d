import { cardSchema, paymentNameSchema } from '@tollgate/payment-api';
import {
  allowedOriginsSchema,
  approvalRuleSchema,
  keyRevocationSchema,
  limitRequestSchema,
  scopeNameSchema,
  keyRequestSchema,
  teamRequestSchema,
  walletChoiceSchema,
} from './team-requests.ts';
import {
  accountChangeRequestSchema,
  approvalRefusalSchema,
  destinationCheckSchema,
  credentialBodySchemas,
  paymentRequestSchema,
  payoutRequestSchema,
  reconciliationRequestSchema,
  refundRequestSchema,
  removedViewSchema,
  savedViewSchema,
  resolutionRequestSchema,
  transferRequestSchema,
  webhookEndpointBodySchemas,
  webhookEventNameSchema,
  webhookReplaySchema,
  operatorWebhookReplaySchema,
} from './requests.ts';

/** The request bodies, by their names in the OpenAPI document. The routes parse with these schemas. */
export const bodySchemas = {
  PaymentRequest: paymentRequestSchema,
  PaymentName: paymentNameSchema,
  RefundRequest: refundRequestSchema,
  PayoutRequest: payoutRequestSchema,
  Resolution: resolutionRequestSchema,
  ApprovalRefusal: approvalRefusalSchema,
  DestinationCheck: destinationCheckSchema,
  AccountChange: accountChangeRequestSchema,
  SavedView: savedViewSchema,
  TransferRequest: transferRequestSchema,
  ReconciliationRequest: reconciliationRequestSchema,
  RemovedView: removedViewSchema,
  ...webhookEndpointBodySchemas,
  WebhookReplay: webhookReplaySchema,
  OperatorWebhookReplay: operatorWebhookReplaySchema,
  TeamRequest: teamRequestSchema,
  KeyRequest: keyRequestSchema,
  KeyRevocation: keyRevocationSchema,
  AllowedOrigins: allowedOriginsSchema,
  WalletChoice: walletChoiceSchema,
  ApprovalRule: approvalRuleSchema,
  LimitRequest: limitRequestSchema,
  ...credentialBodySchemas,
} as const;
export type BodyName = keyof typeof bodySchemas;

/** Parts of bodies, by their names. Java cannot write a list of values without a name, nor Go an object. */
export const bodyValues = {
  Card: cardSchema,
  Scope: scopeNameSchema,
  WebhookEventName: webhookEventNameSchema,
} as const;
