/**
 * `npm run links`: checks that the targets in documents exist: relative links, their headings, and paths in code spans.
 */
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';

const workspace = join(import.meta.dirname, '..');
const fences = /^(`{3,}|~{3,})[^\n]*\n[\s\S]*?^\1/gm;
const links = /\]\(([^)\s]+)\)/g;
/**
 * Paths in code spans: a file in a folder, or anything below one of our folders. A `*`, `{` or `<` makes it a pattern.
 */
const codePaths =
  /`([\w-][\w.-]*\/(?:[\w.-]+\/)*[\w.-]+\.(?:ts|mjs|json|md|yml)|(?:services|libs|infra|docs|src)\/[\w./-]+)(?::\d+)?`/g;

const files = execFileSync('git', ['ls-files', '-co', '--exclude-standard'], { cwd: workspace })
  .toString()
  .split('\n')
  .filter((file) => file !== '' && existsSync(join(workspace, file)));
const documents = files.filter((file) => file.endsWith('.md')).map((file) => join(workspace, file));

/** Some paths start at the root, others at their project, which the sentence names. */
const isPath = (path: string): boolean =>
  existsSync(join(workspace, path)) ||
  files.some(
    (file) => `/${file}`.endsWith(`/${path}`) || `/${file}`.includes(`/${path.replace(/\/$/, '')}/`),
  );

const withoutFences = (file: string): string => readFileSync(file, 'utf8').replaceAll(fences, '');

const targetsOf = (text: string, pattern: RegExp): string[] =>
  [...text.matchAll(pattern)].flatMap(([, target]) => target ?? []);

/** The anchor that GitHub generates for a heading. */
const anchorOf = (heading: string): string =>
  heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
    .trim()
    .replaceAll(/\s/g, '-');

const anchorsOf = (file: string): string[] =>
  targetsOf(withoutFences(file), /^#+ +(.+)$/gm).map((heading) => anchorOf(heading));

function isThere(document: string, link: string): boolean {
  const [path = '', anchor = ''] = link.split('#');
  const file = path === '' ? document : join(dirname(document), path);
  if (!existsSync(file)) return false;
  return anchor === '' || !file.endsWith('.md') || anchorsOf(file).includes(anchor);
}

const brokenIn = (document: string): string[] => {
  const text = withoutFences(document);
  const ours = targetsOf(text, links).filter((link) => !/^[a-z]+:/.test(link));
  return [
    ...ours.filter((link) => !isThere(document, link)),
    ...targetsOf(text, codePaths).filter((path) => !isPath(path)),
  ].map((target) => `${relative(workspace, document)}: ${target} is not there`);
};

const broken = documents.flatMap((document) => brokenIn(document));
for (const line of broken) process.stderr.write(`${line}\n`);
process.stdout.write(`${documents.length} documents, ${broken.length} broken links\n`);
process.exitCode = broken.length === 0 ? 0 : 1;
