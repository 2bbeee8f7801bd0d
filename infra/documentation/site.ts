/** `npm run docs`: writes the documentation site, or serves it from the files as they are at each request. */
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { type IncomingMessage, type ServerResponse, createServer } from 'node:http';
import { dirname, join, relative } from 'node:path';
import { parseArgs } from 'node:util';
import { contentTypeOf, createSite } from '@tollgate/gateway/documentation';

const usage = `npm run docs                    writes the site to site/
npm run docs -- --to <folder>   replaces that folder by the site
npm run docs -- --serve [port]  serves it at http://127.0.0.1:8080/ while you write`;

const { values, positionals } = parseArgs({
  options: { serve: { type: 'boolean' }, to: { type: 'string' }, help: { type: 'boolean' } },
  allowPositionals: true,
});

if (values.help === true) console.log(usage);
else if (values.serve === true) serve(Number(positionals[0] ?? 8080));
else await write(values.to ?? join(import.meta.dirname, '../../site'));

async function write(folder: string): Promise<void> {
  rmSync(folder, { recursive: true, force: true });
  const site = createSite();
  for (const [path, contentOf] of site) {
    const file = join(folder, path);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, await contentOf());
  }
  console.log(`${site.size} files in ${relative('', folder)}/: open ${relative('', folder)}/index.html`);
}

function serve(port: number): void {
  const server = createServer((request, response) => void answer(request, response));
  server.listen(port, '127.0.0.1', () => console.log(`http://127.0.0.1:${port}/`));
}

async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { pathname } = new URL(request.url ?? '/', 'http://127.0.0.1');
  const path = pathname === '/' ? 'index.html' : pathname.slice(1);
  const content = await createSite().get(path)?.();
  if (content === undefined) response.writeHead(404).end('Not found.');
  else response.writeHead(200, { 'content-type': contentTypeOf(path) }).end(content);
}
