// eslint-disable-next-line tollgate/pure-domain-imports -- the spec keeps a file of this library true to the code
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import {
  isFinalPhase,
  paymentPhases,
  phaseAfter,
  type PaymentMachineEvent,
} from './payment/payment-machine.ts';
import { paymentEventSchemas, type PaymentEventType } from './payment/payment-events.ts';

const eventTypes = (Object.keys(paymentEventSchemas) as PaymentEventType[]).filter(
  (type) => type !== 'PaymentRequested',
);

function variantsOf(type: PaymentEventType): PaymentMachineEvent[] {
  if (type === 'PaymentRequested' || type === 'FinalStatusRevised') return [];
  if (type === 'RefundApproved' || type === 'ExternalRefundObserved')
    return [true, false].map((inFull) => ({ type, inFull }));
  return [{ type }];
}

/** The machine as a mermaid diagram: every way from one phase to another but revisions, one line for each pair of phases. */
function toMermaid(): string {
  const labels = new Map<string, Set<string>>();
  for (const phase of paymentPhases)
    for (const event of eventTypes.flatMap(variantsOf)) {
      const next = phaseAfter(phase, event);
      if (next === undefined || next === phase) continue;
      const arrow = `${phase} --> ${next}`;
      labels.set(arrow, (labels.get(arrow) ?? new Set()).add(event.type));
    }
  return [
    'stateDiagram-v2',
    `[*] --> ${paymentPhases[0]} : PaymentRequested`,
    ...[...labels].map(([arrow, types]) => `${arrow} : ${[...types].join(', ')}`),
    ...paymentPhases.filter(isFinalPhase).map((phase) => `${phase} --> [*]`),
  ].join('\n  ');
}

test('the diagram in the README is the machine', () => {
  const readme = readFileSync(new URL('../README.md', import.meta.url), 'utf8');
  const diagram = /```mermaid\n([\s\S]*?)\n```/.exec(readme)?.[1];
  expect(diagram).toBe(toMermaid());
});
