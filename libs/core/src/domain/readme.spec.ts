// eslint-disable-next-line tollgate/pure-domain-imports -- the spec keeps a file of this folder true to the code
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { stateDiagramOf } from './testing/state-diagram.ts';
import { paymentMachine } from './payment/payment-machine.ts';
import { payoutMachine } from './payout/payout-machine.ts';

test('the diagrams in the README match the machines', () => {
  const readme = readFileSync(new URL('./README.md', import.meta.url), 'utf8');
  const diagrams = [...readme.matchAll(/```mermaid\n([\s\S]*?)\n```/g)].map(([, diagram]) => diagram);
  expect(diagrams).toEqual([
    stateDiagramOf(paymentMachine, 'PaymentRequested', ['FinalStatusRevised']),
    stateDiagramOf(payoutMachine, 'PayoutRequested', ['FinalStatusRevised'], {
      awaiting_approval: 'PayoutApprovalRequested',
    }),
  ]);
});
