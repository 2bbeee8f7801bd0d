/** The sections of the site in order, by `docs/navigation.json`: a name that ends in `/` is the rest of that folder. */
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';

export const workspace = join(import.meta.dirname, '../../../..');

export interface Section {
  title: string;
  /** Markdown files from the workspace's root, or `openapi`. */
  sources: readonly string[];
}

const navigationSchema = z.array(
  z.strictObject({ title: z.string().min(1), pages: z.array(z.string().min(1)) }),
);

export function readNavigation(): readonly Section[] {
  const entries = navigationSchema.parse(JSON.parse(readText('docs/navigation.json')));
  const named = new Set(entries.flatMap(({ pages }) => pages));
  const restOf = (folder: string) =>
    readdirSync(join(workspace, folder))
      .filter((name) => name.endsWith('.md') && !named.has(`${folder}${name}`))
      .toSorted()
      .map((name) => `${folder}${name}`);
  return entries.map(({ title, pages }) => ({
    title,
    sources: pages.flatMap((name) => (name.endsWith('/') ? restOf(name) : name)),
  }));
}

/** A file of the workspace. */
export const readText = (path: string): string => readFileSync(join(workspace, path), 'utf8');
