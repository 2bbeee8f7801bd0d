import { z } from 'zod';

/** Milliseconds since the Unix epoch. */
export const instantSchema = z.int().min(0);

/** When an announced call may be sent, and until when its outcome may still come. */
export const callWindowSchema = z.object({
  /** The call may be sent before this instant only. */
  sendBy: instantSchema,
  /** Whoever sent the call has given up waiting by this instant. */
  answerBy: instantSchema,
  /** From this instant on, "not found" means that the call never took effect. */
  quietUntil: instantSchema,
});
export type CallWindow = z.infer<typeof callWindowSchema>;
