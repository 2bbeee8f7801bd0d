/** The builder of the manifests and the validator with the schemas of Kubernetes: pinned, fetched once. */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fetchTool } from '../fetch-once.ts';

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
  const digest = createHash('sha256').update(readFileSync(requirements)).digest('hex').slice(0, 12);
  const kustomize = await fetchTool({
    folder: join(cacheFolder, `kustomize-${kustomizeVersion}`),
    name: `kustomize ${kustomizeVersion}`,
    from: 'the Go module proxy, a minute',
    run: (into) => ({
      command: 'go',
      args: ['install', `sigs.k8s.io/kustomize/kustomize/v5@${kustomizeVersion}`],
      env: { GOBIN: into },
      missing: 'kustomize is built with Go, which was not found: install Go 1.24 or later, then start again.',
    }),
    say,
    signal,
  });
  const validator = await fetchTool({
    folder: join(cacheFolder, `validator-${digest}`),
    name: 'kubernetes-validate',
    from: 'PyPI, about 10 MB',
    run: (into) => ({
      command: 'python3',
      args: ['-m', 'pip', 'install', '--quiet', '--no-deps', '--target', into, '--requirement', requirements],
      missing:
        'The manifests are validated with Python, which was not found: install it (on Debian, `apt-get install python3-pip`), then start again.',
    }),
    say,
    signal,
  });
  return { kustomize: join(kustomize, 'kustomize'), validator };
}
