import { existsSync, readdirSync } from 'node:fs';
import { join, posix } from 'node:path';
import { operations } from '@tollgate/gateway-api/http';
import { beforeAll, expect, it } from 'vitest';
import { readNavigation, workspace } from './navigation.ts';
import { createSite, sitePathOf } from './site.ts';

const site = new Map<string, string>();
beforeAll(async () => {
  for (const [path, contentOf] of createSite()) site.set(path, await contentOf());
});

const pages = () => [...site].filter(([path]) => path.endsWith('.html'));

it('has the sections in their order, and a page for every document', () => {
  const sections = readNavigation();
  expect(sections.map(({ title }) => title)).toEqual([
    'Start',
    'Team guides',
    'Operator guides',
    'Guarantees',
    'Architecture and decisions',
    'API reference',
    'Changelog',
  ]);
  const sources = sections.flatMap((section) => section.sources);
  expect(sources.filter((source) => source !== 'openapi' && !existsSync(join(workspace, source)))).toEqual(
    [],
  );
  const documents = readdirSync(join(workspace, 'docs'), { recursive: true, encoding: 'utf8' });
  const unlisted = documents.filter((name) => name.endsWith('.md') && !sources.includes(`docs/${name}`));
  expect(unlisted).toEqual([]);
  expect(new Set(sources.map(sitePathOf)).size).toBe(sources.length);
});

it('every link of a page leads to a file and an anchor of the site, by a relative address', () => {
  const broken: string[] = [];
  for (const [path, content] of pages())
    for (const [, address = ''] of content.matchAll(/(?:href|src)="([^"]*)"/g)) {
      if (/^https?:/.test(address)) continue;
      const [file = '', anchor] = address.split('#');
      const target = file === '' ? path : posix.join(posix.dirname(path), file);
      const found = file.startsWith('/') ? undefined : site.get(target);
      const hasAnchor = anchor === undefined || found?.includes(`id="${anchor}"`);
      if (found === undefined || !hasAnchor) broken.push(`${path}: ${address}`);
    }
  expect(broken).toEqual([]);
});

it('loads nothing from another host', () => {
  for (const [path, content] of pages())
    expect(content, path).not.toMatch(/<(?:script|link|img|iframe)[^>]+(?:src|href)="(?:https?:)?\/\//);
});

it('describes every operation once, with a sample, on pages of less than 200 KB with style and script', () => {
  const reference = pages().filter(([path]) => path.startsWith('api/'));
  for (const { id } of operations)
    expect(reference.filter(([, content]) => content.includes(`<h2 id="${id}">`)).length, id).toBe(1);
  const samples = reference.flatMap(([, content]) => [...content.matchAll(/<code>curl /g)]);
  expect(samples.length).toBe(operations.length + 1);
  const around = (site.get('static/site.css')?.length ?? 0) + (site.get('static/site.js')?.length ?? 0);
  for (const [path, content] of reference) expect(content.length + around, path).toBeLessThan(200_000);
});
