/** The style sheet and scripts of the console, read once, and cached by browsers until they change. */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { brotliCompressSync } from 'node:zlib';
import type { FastifyInstance } from 'fastify';

const names = [
  ...(['console.css', 'console.js', 'times.js', 'live.js', 'keyboard.js'] as const),
  ...(['suggestions.js', 'further.js', 'drafts.js', 'sandbox.svg', 'production.svg'] as const),
];
const types = {
  css: 'text/css; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  svg: 'image/svg+xml',
} as const;

export type Assets = ReturnType<typeof readAssets>;

export function readAssets() {
  const files = names.map((name) => {
    const content = readFileSync(new URL(`./static/${name}`, import.meta.url), 'utf8');
    // Compressed once, therefore at the highest level.
    return { name, content, brotli: brotliCompressSync(content) };
  });
  const hash = createHash('sha256');
  for (const { content } of files) hash.update(content);
  // The folder in URLs.
  const base = `/console/static/${hash.digest('hex').slice(0, 16)}`;
  const icons = { sandbox: `${base}/sandbox.svg`, production: `${base}/production.svg` };
  return { files, base, addresses: { style: `${base}/console.css`, script: `${base}/console.js`, icons } };
}

const extensionOf = (name: string): keyof typeof types => {
  if (name.endsWith('.css')) return 'css';
  return name.endsWith('.js') ? 'js' : 'svg';
};

export function registerAssets(app: FastifyInstance, { files, base }: Assets): void {
  for (const { name, content, brotli } of files)
    app.get(`${base}/${name}`, async (request, reply) => {
      // Not the policies of a page: they have no effect on a file, and would be a tenth of the transfer.
      reply.type(types[extensionOf(name)]).headers({
        'cache-control': 'public, max-age=31536000, immutable',
        'cross-origin-resource-policy': 'same-origin',
        vary: 'Accept-Encoding',
      });
      const acceptsBrotli = /(^|,)\s*br\s*(,|$)/.test(request.headers['accept-encoding'] ?? '');
      return acceptsBrotli ? reply.header('content-encoding', 'br').send(brotli) : reply.send(content);
    });
}
