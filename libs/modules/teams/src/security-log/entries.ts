/** Entries of the security log (stream `security-log`): rejected callers, changes, exports. */
import { environmentSchema } from '@tollgate/core';
import { z } from 'zod';
import { type EventOf, eventFamily } from '@tollgate/event-store';

export const securityLogStream = 'security-log';

/** Repeats within a window are one entry: the first, the count, and the times of first and last. */
const counted = {
  count: z.int().min(1),
  /** Milliseconds since the Unix epoch. */
  from: z.int(),
  until: z.int(),
};

const securityEventSchemas = {
  /** Rejected requests of one source. */
  AccessRefused: z.object({
    code: z.string(),
    /** `several` if the sources were too many to distinguish. */
    address: z.string(),
    /** The id part of the key; unverified if the secret was wrong. For a person's credential, the person. */
    keyIdPrefix: z.string().optional(),
    /** If the secret was correct. */
    team: z.string().optional(),
    /** Of the key, or named by a person. */
    environment: environmentSchema.optional(),
    method: z.string().optional(),
    route: z.string().optional(),
    requestId: z.string().optional(),
    ...counted,
  }),
  /** Payments were exported as a file. */
  ExportMade: z.object({
    team: z.string(),
    keyId: z.string(),
    environment: environmentSchema,
    address: z.string(),
    route: z.string(),
    ...counted,
  }),
  /**
   * Written before the review is resolved, or a payout approved or refused (code `awaiting_approval`): the outcome is in the
   * history of the payment or payout.
   */
  ReviewResolutionAsked: z.object({
    team: z.string(),
    environment: environmentSchema.optional(),
    keyId: z.string(),
    address: z.string(),
    token: z.string(),
    code: z.string(),
    number: z.int(),
    resolution: z.string(),
  }),
  TeamChanged: z.object({
    team: z.string(),
    stream: z.string(),
    revision: z.int(),
    /** Of the event. */
    change: z.string(),
    /** Without hashes of secrets. */
    detail: z.record(z.string(), z.unknown()),
    /** The setting that it replaced, in the form of `detail`; absent if there was none. */
    before: z.record(z.string(), z.unknown()).optional(),
    /** Value of its signature. */
    signature: z.string(),
  }),
  /** An event in the stream of a team that is ignored, or that makes the record unreadable. */
  TeamEventRejected: z.object({
    stream: z.string(),
    revision: z.int(),
    reason: z.enum(['not_signed', 'damaged']),
  }),
  /** A command that records no event, or reveals a secret. */
  OperatorActed: z.object({ command: z.string(), detail: z.record(z.string(), z.unknown()) }),
} as const;

export type SecurityEvent = EventOf<typeof securityEventSchemas>;
export type SecurityEventOf<Type extends SecurityEvent['type']> = Extract<SecurityEvent, { type: Type }>;

export const { decode: decodeSecurityEvent, versionOf: versionOfSecurityEvent } =
  eventFamily(securityEventSchemas);

/** The values of `tollgate audit --kind`. */
export const securityEventKinds = {
  access: ['AccessRefused'],
  export: ['ExportMade'],
  review: ['ReviewResolutionAsked'],
  team: ['TeamChanged', 'TeamEventRejected'],
  operator: ['OperatorActed'],
} as const satisfies Record<string, readonly SecurityEvent['type'][]>;
export type SecurityEventKind = keyof typeof securityEventKinds;
