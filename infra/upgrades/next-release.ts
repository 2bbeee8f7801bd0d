/**
 * A simulated next release: this one, with the changes that an upgrade may contain. After `upgrade finish` it writes an event
 * type and a field that this release cannot read. Its views of payments have another schema.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { copyWorkspace, workspace } from '../copy-workspace.ts';
import { CannotContinue } from '../stop-with-sentence.ts';

interface Change {
  file: string;
  /** Occurs exactly once in the file. */
  from: string;
  to: string;
}

const domain = 'libs/core/src/domain';
const schemaVersionFile = 'libs/event-store/src/schema-version.ts';

/** Of this release: infra imports no library. */
const schemaVersion = (): number =>
  Number(/schemaVersion = (\d+);/.exec(readFileSync(join(workspace, schemaVersionFile), 'utf8'))?.[1]);

/** @param version the schema version of this release */
const changesAt = (version: number): readonly Change[] => [
  {
    file: schemaVersionFile,
    from: `schemaVersion = ${version};`,
    to: `schemaVersion = ${version + 1};`,
  },
  { file: 'services/gateway/package.json', from: '"version": "', to: '"version": "99.0.0-of-' },
  // An event type, and a field of another one.
  {
    file: `${domain}/payment/payment-events.ts`,
    from: 'eventFamily(paymentEventSchemas);',
    to: `eventFamily(paymentEventSchemas, { needs: { PaymentNoted: () => ${version + 1}, PaymentApproved: ({ notedBy }) => (notedBy === undefined ? 1 : ${version + 1}) } });`,
  },
  {
    file: `${domain}/payment/payment-events.ts`,
    from: 'PaymentApproved: z.object({ amount: amountSchema,',
    to: 'PaymentNoted: z.object({ note: textSchema }),\n  PaymentApproved: z.object({ notedBy: textSchema.optional(), amount: amountSchema,',
  },
  {
    file: `${domain}/payment/payment-machine.ts`,
    from: '    RecurringTokenIssued: stay,',
    to: '    RecurringTokenIssued: stay,\n    PaymentNoted: stay,',
  },
  {
    file: `${domain}/payment/payment-evolve.ts`,
    from: "    case 'RecurringTokenIssued':",
    to: "    case 'PaymentNoted':\n      return state;\n    case 'RecurringTokenIssued':",
  },
  {
    file: 'libs/gateway-api/src/payment-events.ts',
    from: '  RecurringTokenIssued: publicEvent(',
    to: "  PaymentNoted: publicEvent('Noted.', { note: z.string() }),\n  RecurringTokenIssued: publicEvent(",
  },
  // Written only after `upgrade finish`.
  {
    file: 'services/gateway/src/composition/join-store.ts',
    from: '  await members.beat();\n',
    to: `  await members.beat();
  const { readSchemaVersion } = await import('@tollgate/event-store');
  const notice = async () =>
    void Object.assign(globalThis, { storeSchemaVersion: (await readSchemaVersion(deps.store)).version });
  await notice();
  setInterval(() => void notice().catch(() => undefined), 200).unref();
`,
  },
  {
    file: 'libs/core/src/aggregates/payments.ts',
    from: '      decide(aggregate?.payment, input),',
    to: '      noted(decide(aggregate?.payment, input)),',
  },
  {
    file: 'libs/core/src/aggregates/payments.ts',
    from: 'export const createPayments =',
    to: `function noted(decision: any): any {
  const approved = decision.events?.find(({ type }: { type: string }) => type === 'PaymentApproved');
  if (approved === undefined || (globalThis as any).storeSchemaVersion <= ${version}) return decision;
  approved.data.notedBy = 'the next release';
  return { ...decision, events: [...decision.events, { type: 'PaymentNoted', data: { note: 'approved' } }] };
}

export const createPayments =`,
  },
];

/** The next schema of views. */
const viewFile = 'libs/modules/views/src/view-kind.ts';
const viewVersion = /viewSchemaVersion = (\d+);/;

/** Builds it in the folder, and returns the folder. @throws CannotContinue if a change no longer applies */
export async function buildNextRelease(folder: string): Promise<string> {
  await copyWorkspace(folder);
  for (const { file, from, to } of changesAt(schemaVersion()))
    change(join(folder, file), (text) => {
      if (text.split(from).length !== 2)
        throw new CannotContinue(
          `infra/upgrades/next-release.ts: ${JSON.stringify(from)} must occur exactly once in ${file}.`,
        );
      return text.replace(from, () => to);
    });
  change(join(folder, viewFile), (text) =>
    text.replace(viewVersion, (_, version) => `viewSchemaVersion = ${Number(version) + 1};`),
  );
  return folder;
}

function change(path: string, changed: (text: string) => string): void {
  writeFileSync(path, changed(readFileSync(path, 'utf8')));
}
