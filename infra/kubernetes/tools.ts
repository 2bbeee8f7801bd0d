/** The builder of the manifests and the validator with the schemas of Kubernetes: pinned, fetched once. */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fetchOnce, runTool } from '../fetch-once.ts';
import { CannotContinue } from '../stop-with-sentence.ts';

/** Later versions need Go 1.26. */
const kustomizeVersion = 'v5.8.1';
const cacheFolder = join(import.meta.dirname, '..', '..', '.cache', 'kubernetes');
const requirements = join(import.meta.dirname, 'requirements.txt');

export interface Tools {
  /** The program. */
  kustomize: string;
  /** The folder of the Python package `kubernetes_validate` with its dependencies. */
  validator: string;
}

/** @throws CannotContinue if they are missing and cannot be fetched */
export async function findTools(say: (line: string) => void, signal?: AbortSignal): Promise<Tools> {
  const kustomize = join(cacheFolder, `kustomize-${kustomizeVersion}`);
  const digest = createHash('sha256').update(readFileSync(requirements)).digest('hex').slice(0, 12);
  const validator = join(cacheFolder, `validator-${digest}`);
  await fetchOnce({
    folder: kustomize,
    what: `kustomize ${kustomizeVersion}, and building it (first time only, a minute)`,
    fetch: (into) => buildKustomize(into, signal),
    say,
  });
  await fetchOnce({
    folder: validator,
    what: 'kubernetes-validate from PyPI (first time only, about 10 MB)',
    fetch: (into) => installValidator(into, signal),
    say,
  });
  return { kustomize: join(kustomize, 'kustomize'), validator };
}

async function buildKustomize(into: string, signal?: AbortSignal): Promise<void> {
  const { code, output } = await runTool({
    command: 'go',
    args: ['install', `sigs.k8s.io/kustomize/kustomize/v5@${kustomizeVersion}`],
    env: { GOBIN: into },
    missing: 'kustomize is built with Go, which was not found: install Go 1.24 or later, then start again.',
    signal,
  });
  if (code !== 0)
    throw new CannotContinue(
      `Go could not fetch and build kustomize ${kustomizeVersion}: ${lastLine(output)}`,
    );
}

async function installValidator(into: string, signal?: AbortSignal): Promise<void> {
  const { code, output } = await runTool({
    command: 'python3',
    args: ['-m', 'pip', 'install', '--quiet', '--no-deps', '--target', into, '--requirement', requirements],
    missing:
      'The manifests are validated with Python, which was not found: install it (on Debian, `apt-get install python3-pip`), then start again.',
    signal,
  });
  if (code !== 0) throw new CannotContinue(`pip could not fetch kubernetes-validate: ${lastLine(output)}`);
}

const lastLine = (output: string): string => output.trim().split('\n').at(-1) ?? 'it gave no reason';
