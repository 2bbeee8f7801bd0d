/** States have a color, a shape and a word: color never carries meaning alone. */
import { type Html, html } from '@tollgate/service-kit';
import { texts } from '../texts.ts';

const tones: Readonly<Record<string, 'good' | 'bad' | 'busy' | 'note' | 'calm'>> = {
  approved: 'good',
  declined: 'bad',
  failed: 'bad',
  unresolved: 'note',
  requested: 'busy',
  capturing: 'busy',
  voiding: 'busy',
  pending: 'busy',
  init: 'calm',
  authorized: 'busy',
  voided: 'calm',
  refunded: 'calm',
  expired: 'calm',
  awaiting_approval: 'note',
  approval_granted: 'busy',
};

const shapes: Readonly<Record<string, string>> = {
  good: 'M3 7.5l3 3 6-6.5',
  bad: 'M4 4l7 7M11 4l-7 7',
  busy: 'M7.5 3a4.5 4.5 0 1 1-4.2 2.9',
  note: 'M7.5 2.5l6 10.5h-12zM7.5 6.5v3M7.5 11v.01',
  calm: 'M3 7.5h9',
};

const toneOf = (phase: string): string => tones[phase] ?? 'calm';
export const phaseName = (phase: string): string =>
  (Object.hasOwn(texts.phases, phase) && texts.phases[phase]) || phase;

/** @param tone a tone with a shape */
export const sign = (tone: string): Html =>
  html`<svg class="sign" viewBox="0 0 15 15" aria-hidden="true"><path d="${shapes[tone] ?? ''}" /></svg>`;

export const chip = (phase: string, tone = toneOf(phase)): Html =>
  html`<span class="chip ${tone}">${sign(tone)}${phaseName(phase)}</span>`;
