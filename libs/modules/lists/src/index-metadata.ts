/** Metadata rows of payments and payouts, for filters of lists. */
import { createHash } from 'node:crypto';
import type { ViewEnvelope, ViewKind } from '@tollgate/views';
import type { Statements } from './index-rows.ts';

/** A hash of name and text, at a fixed length and collision-resistant. */
export const metadataHash = (name: string, text: string): string =>
  createHash('sha256')
    .update(JSON.stringify([name, text]))
    .digest('hex')
    .slice(0, 32);

/** For a new row only: metadata never change. */
export function writeMetadata(statements: Statements, kind: ViewKind, view: ViewEnvelope): void {
  const metadata = kind.table.metadataOf?.(view);
  if (metadata === undefined) return;
  const { environment, team } = kind.ownerOf(view);
  if (team === undefined) return;
  const insertion = statements(`INSERT INTO ${kind.table.name}_metadata VALUES (?, ?, ?, ?, ?)`);
  for (const [name, text] of Object.entries(metadata))
    insertion.run(environment, team, metadataHash(name, text), view.createdAt, view.token);
}
