/** What each of the files with the messages of a topic tells of an event. */
import type { z } from 'zod';
import type { EventData } from '../consumer/gateway-records.ts';

/** For every event of a topic: what it means, and an example of it. */
export type DescribedEvents<Data extends EventData, Subject> = {
  [Name in keyof Data]: {
    /** A sentence or two. */
    meaning: string;
    data: z.infer<Data[Name]>;
    /** In what the subject differs, after the event, from one that has just begun. */
    after: Partial<Subject>;
  };
};

/** When the examples have happened. */
export const exampleInstant = '2030-01-01T12:00:00.000Z';
export const exampleSendBy = '2030-01-01T12:00:05.000Z';
export const examplePaymentToken = 'pay_2ncgkq4v6t3b7yzx';
export const refusalExample = {
  ...{ code: 'insufficient_funds', kind: 'processing_error', message: 'Insufficient funds.' },
};
