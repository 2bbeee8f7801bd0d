/** What the thread of the followers and the one that has started it say to each other. */
import type { MessagePort } from 'node:worker_threads';
import type { GaugeName } from '../../edge/metrics/metrics.ts';
import type { Holder } from '../lease-holder.ts';

export interface ThreadData {
  /** Both threads are one life of a process. */
  holder: Holder;
  /** To the writer of the embedded store; absent where the store is a server. */
  connection?: MessagePort;
  /** To who reads the index that the thread fills. */
  reader: MessagePort;
}

export type About = { about: 'not-ready' } | { about: 'degraded' } | { about: 'gauge'; gauge: GaugeName };

export type ToThread = ({ kind: 'question'; id: number } & About) | { kind: 'stop' };

export type FromThread =
  | { kind: 'started'; gauges: readonly GaugeName[] }
  | { kind: 'start-refused'; code: string; message: string; retryable: boolean }
  | { kind: 'answer'; id: number; answer: unknown };
