/** The style sheet and the scripts of the console, read once, and kept by browsers for as long as they are the same. */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { FastifyInstance } from 'fastify';
import { protect } from './page.ts';

const names = [
  ...(['console.css', 'console.js', 'times.js', 'live.js', 'keyboard.js'] as const),
  ...(['suggestions.js', 'further.js'] as const),
];
const types = { css: 'text/css; charset=utf-8', js: 'text/javascript; charset=utf-8' } as const;

interface StaticFile {
  name: (typeof names)[number];
  content: string;
}

export interface Assets {
  files: readonly StaticFile[];
  /** The folder in addresses: of this content, and no other. */
  base: string;
  addresses: { style: string; script: string };
}

export function readAssets(): Assets {
  const files = names.map((name) => ({
    name,
    content: readFileSync(new URL(`./static/${name}`, import.meta.url), 'utf8'),
  }));
  const hash = createHash('sha256');
  for (const { content } of files) hash.update(content);
  const base = `/console/static/${hash.digest('hex').slice(0, 16)}`;
  return { files, base, addresses: { style: `${base}/console.css`, script: `${base}/console.js` } };
}

export function registerAssets(app: FastifyInstance, { files, base }: Assets): void {
  for (const { name, content } of files)
    app.get(`${base}/${name}`, async (_request, reply) =>
      protect(reply)
        .type(types[name.endsWith('.css') ? 'css' : 'js'])
        .header('cache-control', 'public, max-age=31536000, immutable')
        .send(content),
    );
}
