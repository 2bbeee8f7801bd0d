/** Entries of the security log (stream `security-log`): rejected callers, changes, exports. */
import { type EventOf, environmentSchema, eventFamily } from '@tollgate/core';
import { z } from 'zod';

export const securityLogStream = 'security-log';

/** Where many came within a while, they are one entry: the first, how many, and from when to when. */
const counted = {
  count: z.int().min(1),
  /** Milliseconds since the Unix epoch. */
  from: z.int(),
  until: z.int(),
};

const securityEventSchemas = {
  /** Requests that were not let in, of one source. */
  AccessRefused: z.object({
    code: z.string(),
    /** `several` if the sources were too many to distinguish. */
    address: z.string(),
    /** The beginning of it: if the secret was wrong, anybody may have made it up. Of a person's credential, whose it is. */
    keyIdPrefix: z.string().optional(),
    /** Where the secret was right. */
    team: z.string().optional(),
    /** Of the key, or that a person has named. */
    environment: environmentSchema.optional(),
    method: z.string().optional(),
    route: z.string().optional(),
    requestId: z.string().optional(),
    ...counted,
  }),
  /** Payments left as a file. */
  ExportMade: z.object({
    team: z.string(),
    keyId: z.string(),
    environment: environmentSchema,
    address: z.string(),
    route: z.string(),
    ...counted,
  }),
  /**
   * Written before the review is resolved, or a payout approved or refused (code `awaiting_approval`): whether it was is in the
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
  /** A signed event of a team. */
  TeamChanged: z.object({
    team: z.string(),
    stream: z.string(),
    revision: z.int(),
    /** Of the event. */
    change: z.string(),
    /** Of the event, without hashes of secrets. */
    detail: z.record(z.string(), z.unknown()),
    /** Value of its signature. */
    signature: z.string(),
  }),
  /** An event in the stream of a team that counts for nothing, or that makes the record unreadable. */
  TeamEventRejected: z.object({
    stream: z.string(),
    revision: z.int(),
    reason: z.enum(['not_signed', 'damaged']),
  }),
  /** A command line that leaves no event of its own, or shows a secret. */
  OperatorActed: z.object({ command: z.string(), detail: z.record(z.string(), z.unknown()) }),
} as const;

export type SecurityEvent = EventOf<typeof securityEventSchemas>;
export type SecurityEventOf<Type extends SecurityEvent['type']> = Extract<SecurityEvent, { type: Type }>;

export const { decode: decodeSecurityEvent, versionOf: versionOfSecurityEvent } =
  eventFamily(securityEventSchemas);

/** What `tollgate audit --kind` asks for. */
export const securityEventKinds = {
  access: ['AccessRefused'],
  export: ['ExportMade'],
  review: ['ReviewResolutionAsked'],
  team: ['TeamChanged', 'TeamEventRejected'],
  operator: ['OperatorActed'],
} as const satisfies Record<string, readonly SecurityEvent['type'][]>;
export type SecurityEventKind = keyof typeof securityEventKinds;
